// The colour of each thing, as in Polhode's pictures (src/polhode/plot/style.py; after Okabe and Ito, told apart by
// the colour-blind too), and what it becomes on a dark page.

export interface Colours {
  axis1: string;
  axis2: string;
  axis3: string;
  omega: string;
  L: string;
  torque: string;
  force: string;
  path: string;
  closedForm: string;
  rotational: string;
  translational: string;
  potential: string;
  kinetic: string;
  total: string;
  body: string;
  /** The second tone of the pattern that makes spin visible. */
  bodyOther: string;
  muted: string;
  grid: string;
  paper: string;
  panel: string;
  ink: string;
}

export const LIGHT: Colours = {
  axis1: "#d55e00",
  axis2: "#009e73",
  axis3: "#0072b2",
  omega: "#8e3b8b",
  L: "#e69f00",
  torque: "#56b4e9",
  force: "#222222",
  path: "#7a7a9d",
  closedForm: "#9a9a9a",
  rotational: "#8e3b8b",
  translational: "#009e73",
  potential: "#e69f00",
  kinetic: "#0072b2",
  total: "#333333",
  body: "#ece5d6",
  bodyOther: "#7f97a8",
  muted: "#8a8a8a",
  grid: "#e4e4e8",
  paper: "#ffffff",
  panel: "#f6f6f8",
  ink: "#222222",
};

export const DARK: Colours = {
  axis1: "#ff8a3d",
  axis2: "#2fcf9f",
  axis3: "#4aa8ff",
  omega: "#d77fd4",
  L: "#ffc247",
  torque: "#7cc8f5",
  force: "#e6e6ea",
  path: "#a3a3c8",
  closedForm: "#8d8d99",
  rotational: "#d77fd4",
  translational: "#2fcf9f",
  potential: "#ffc247",
  kinetic: "#4aa8ff",
  total: "#d8d8de",
  body: "#e6dfcf",
  bodyOther: "#5f7f99",
  muted: "#8f8f9a",
  grid: "#2e3038",
  paper: "#16181d",
  panel: "#1e2027",
  ink: "#ececf0",
};

export const coloursOf = (dark: boolean): Colours => (dark ? DARK : LIGHT);

/** Text on paper needs this contrast (WCAG 2.2, AA). */
const READABLE = 4.5;

/** A colour for text: the same, mixed with ink only as far as it must be to be read. */
export function readable(colour: string, { ink, paper }: Pick<Colours, "ink" | "paper">): string {
  const [from, to] = [channels(colour), channels(ink)];
  for (let share = 0; share < 1; share += 0.05) {
    const mix = from.map((c, i) => Math.round(c + share * (to[i] - c)));
    if (contrast(mix, channels(paper)) >= READABLE) return `#${mix.map((c) => c.toString(16).padStart(2, "0")).join("")}`;
  }
  return ink;
}

const channels = (hex: string): number[] => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));

function contrast(a: number[], b: number[]): number {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

/** Relative, 0 to 1, of sRGB.  [WCAG 2.2, "relative luminance"] */
function luminance(rgb: number[]): number {
  const [r, g, b] = rgb.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** For the bodies of a system and the members of an ensemble. */
export const SEVERAL = ["#0072b2", "#d55e00", "#009e73", "#8e3b8b", "#e69f00", "#56b4e9", "#b8860b", "#7a7a9d"];

// The color of each quantity, as in Polhode's figures (src/polhode/plot/style.py; after Okabe and Ito, safe for color
// blindness), and its counterpart in the dark theme.

export interface Colors {
  axis1: string;
  axis2: string;
  axis3: string;
  omega: string;
  L: string;
  torque: string;
  force: string;
  impact: string;
  path: string;
  closedForm: string;
  rotational: string;
  translational: string;
  potential: string;
  kinetic: string;
  total: string;
  body: string;
  /** Second tone of the pattern that makes spin visible. */
  bodyOther: string;
  muted: string;
  grid: string;
  paper: string;
  panel: string;
  ink: string;
}

export const LIGHT: Colors = {
  axis1: "#d55e00",
  axis2: "#009e73",
  axis3: "#0072b2",
  omega: "#8e3b8b",
  L: "#e69f00",
  torque: "#56b4e9",
  force: "#222222",
  impact: "#cc3311",
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

export const DARK: Colors = {
  axis1: "#ff8a3d",
  axis2: "#2fcf9f",
  axis3: "#4aa8ff",
  omega: "#d77fd4",
  L: "#ffc247",
  torque: "#7cc8f5",
  force: "#e6e6ea",
  impact: "#ff7a5c",
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

export const colorsOf = (dark: boolean): Colors => (dark ? DARK : LIGHT);

/** Minimum contrast of text (WCAG 2.2, AA). */
const MIN_CONTRAST = 4.5;

/** A text color: the given one, mixed with ink only as far as the contrast requires. */
export function readable(color: string, { ink, paper }: Pick<Colors, "ink" | "paper">): string {
  const [from, to] = [channels(color), channels(ink)];
  for (let share = 0; share < 1; share += 0.05) {
    const mix = from.map((c, i) => Math.round(c + share * (to[i] - c)));
    if (contrast(mix, channels(paper)) >= MIN_CONTRAST) return hexOf(mix);
  }
  return ink;
}

const hexOf = (rgb: number[]): string => `#${rgb.map((c) => Math.round(c).toString(16).padStart(2, "0")).join("")}`;

const channels = (hex: string): number[] => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));

function contrast(a: number[], b: number[]): number {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

/** Relative luminance of sRGB, 0 to 1.  [WCAG 2.2, "relative luminance"] */
function luminance(rgb: number[]): number {
  const [r, g, b] = rgb.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Colors of the bodies of a system. */
export const BODY_COLORS = ["#0072b2", "#d55e00", "#009e73", "#8e3b8b", "#e69f00", "#56b4e9", "#b8860b", "#7a7a9d"];

/** The scale of a swept parameter, from its lowest value by way of the middle to its highest. */
const SCALES = { light: [LIGHT.axis3, LIGHT.omega, LIGHT.axis1], dark: [DARK.axis3, DARK.omega, DARK.axis1] };

/** The color of a value of a swept parameter, at a fraction (0 to 1) of its range. */
export function colorOfShare(share: number, dark: boolean): string {
  const stops = SCALES[dark ? "dark" : "light"].map(channels);
  const place = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const from = Math.min(Math.floor(place), stops.length - 2);
  return hexOf(stops[from].map((c, i) => c + (place - from) * (stops[from + 1][i] - c)));
}

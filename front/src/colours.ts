// The colour of each thing, as in Polhode's pictures (src/polhode/plots/style.py; after Okabe and Ito, told apart by
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

/** For the bodies of a system and the members of an ensemble. */
export const SEVERAL = ["#0072b2", "#d55e00", "#009e73", "#8e3b8b", "#e69f00", "#56b4e9", "#b8860b", "#7a7a9d"];

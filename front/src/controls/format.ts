// Formatting of numbers, units, times and names.

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

export const superscript = (whole: string): string =>
  Array.from(whole, (sign) => (sign === "-" ? "⁻" : sign === "+" ? "" : SUPERSCRIPTS[Number(sign)])).join("");

/** "kg m2" as "kg m²"; "1" (dimensionless) as "". */
export const unitText = (unit: string): string =>
  unit === "1" ? "" : unit.replace(/([A-Za-z])(-?\d)(?!\d)/g, (_, letter: string, power: string) => letter + superscript(power));

export const withUnit = (number: string, unit: string): string =>
  unitText(unit) === "" ? number : `${number} ${unitText(unit)}`;

const LARGE = 1e6;
const SMALL = 1e-4;

/** The given number of significant digits, with a power of ten if needed.  JSON has null for NaN. */
export function significant(x: number | null, digits: number): string {
  if (x === null || Number.isNaN(x)) return "NaN";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size < LARGE && size >= SMALL) return minus(plain(x, digits));
  const [mantissa, exponent] = x.toExponential(Math.max(digits - 1, 0)).split("e");
  return `${minus(mantissa)} × 10${superscript(exponent)}`;
}

/** Without trailing zeros. */
export function short(x: number | null, digits = 4): string {
  const text = significant(x, digits);
  const [mantissa, power] = text.split(" × ");
  const shorter = mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa;
  return power === undefined ? shorter : `${shorter} × ${power}`;
}

function plain(x: number, digits: number): string {
  const before = Math.floor(Math.log10(Math.abs(x))) + 1;
  return x.toFixed(Math.min(Math.max(digits - before, 0), 20));
}

const minus = (text: string): string => text.replace("-", "−");

/** Number of digits needed to compare two numbers up to their tolerance. */
export function digitsFor(expected: number, tolerance: number): number {
  if (!(tolerance > 0) || expected === 0) return 6;
  return Math.min(Math.max(Math.ceil(Math.log10(Math.abs(expected) / tolerance)) + 1, 4), 10);
}

/** Times of shorter motions are written with a power of ten. */
const SHORTEST_PLAIN = 1e-4;

const DAY = 86400;

/** The unit for times of a motion, and its length in s: days beyond two days, otherwise seconds. */
export const unitOfTime = (span: number): { length: number; unit: string } =>
  span > 2 * DAY ? { length: DAY, unit: "days" } : { length: 1, unit: "s" };

/** A formatter for times of a motion that resolves a thousandth of its duration. */
export function timeFormatter(first: number, last: number): (t: number) => string {
  const { length, unit } = unitOfTime(last - first);
  const span = (last - first) / length;
  const size = Math.floor(Math.log10(span));
  if (!(span > 0)) return (t) => (Math.abs(t) < LARGE ? `${minus(t.toFixed(2))} s` : `${significant(t, 10)} s`);
  if (span >= SHORTEST_PLAIN) return (t) => `${minus(groupDigits((t / length).toFixed(Math.max(3 - size, 0))))} ${unit}`;
  const power = 3 * Math.floor(size / 3);
  return (t) => `${minus((t / 10 ** power).toFixed(3 - size + power))} × 10${superscript(String(power))} s`;
}

/** "3456000" as "3 456 000", with non-breaking spaces; up to four digits are unchanged. */
export const groupDigits = (text: string): string =>
  text.replace(/^-?\d{5,}/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, "\u202f"));

/** "spin_change" as "spin change". */
export const withSpaces = (name: string): string => name.replaceAll("_", " ");

const SIGNS: Record<string, string> = {
  lambda: "λ",
  theta: "θ",
  phi: "φ",
  psi: "ψ",
  omega: "ω",
  Omega: "Ω",
  mu: "μ",
  pi: "π",
  sqrt: "√",
};

/** "2 pi sqrt(mu/k) t^2" as "2 π √(μ/k) t²". */
export const formula = (text: string): string =>
  text
    .replace(/\b(lambda|theta|phi|psi|[oO]mega|mu|pi|sqrt)(?![\w-])/g, (word) => SIGNS[word])
    .replace(/\^(-?\d)(?![\d.])/g, (_, power: string) => superscript(power))
    .replace(/ - /g, " − ");

/** With an initial capital. */
export const capitalize = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

/** With an initial capital and a final period. */
export const sentence = (words: string): string =>
  words === "" || /[.!?…:]$/.test(words) ? capitalize(words) : `${capitalize(words)}.`;

/** Lines as sentences, with underscores replaced by spaces. */
export const sentences = (lines: string): string =>
  withSpaces(lines).split("\n").map((line) => sentence(line.trim())).filter(Boolean).join(" ");

const NAMES: Record<string, string> = { "2d": "2D", "3d": "3D", "6dof": "6-DOF", cubesat: "CubeSat", euler: "Euler" };

/** "gyroscope-euler-angles" as "Gyroscope Euler angles". */
export const titleFromName = (name: string): string =>
  capitalize(name.split(/[-_]/).map((word) => NAMES[word] ?? word).join(" "));

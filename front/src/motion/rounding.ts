/** The nearest of 1, 2 or 5 times a power of ten. */
export function roundNumber(x: number): number {
  const power = 10 ** Math.floor(Math.log10(x));
  return [1, 2, 5, 10].map((n) => n * power).reduce((a, b) => (Math.abs(b - x) < Math.abs(a - x) ? b : a));
}

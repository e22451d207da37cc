// How the page is divided, remembered as long as its tab is open.

const KEY = "polhode-layout";

export type LayoutValue = number | string;

/** Storage throws in a sandbox: then nothing is remembered. */
export function recall(name: string): LayoutValue | undefined {
  try {
    const known = JSON.parse(sessionStorage.getItem(KEY) ?? "{}") as Record<string, unknown>;
    const value = known[name];
    return typeof value === "number" || typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}

/** `undefined` forgets. */
export function remember(name: string, value: LayoutValue | undefined): void {
  try {
    const known = JSON.parse(sessionStorage.getItem(KEY) ?? "{}") as Record<string, unknown>;
    sessionStorage.setItem(KEY, JSON.stringify({ ...known, [name]: value }));
  } catch {
    // The layout then holds for this visit only.
  }
}

// A panel's numbers as text that spreadsheets, NumPy and pandas read.

export interface CsvColumn {
  name: string;
  unit: string;
  /** Whether the numbers were stored in 32 bits: nine digits say all that is known. */
  isSingle: boolean;
  values: ArrayLike<number>;
}

/** One header line with names and units, then one line per output; an empty field is a number that is not defined. */
export function csvText(columns: readonly CsvColumn[]): string {
  const header = columns.map(({ name, unit, isSingle }) => {
    const remarks = [unit, isSingle ? "float32" : ""].filter(Boolean).join("; ");
    return quoted(remarks === "" ? name : `${name} (${remarks})`);
  });
  const rows = Array.from(columns[0]?.values ?? [], (_, n) => columns.map((one) => field(one.values[n], one.isSingle)).join());
  return [header.join(), ...rows, ""].join("\r\n");
}

const field = (x: number, isSingle: boolean): string =>
  Number.isFinite(x) ? String(isSingle ? Number(x.toPrecision(9)) : x) : "";

const quoted = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** Let the browser store a text as a file. */
export function downloadText(fileName: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = fileName;
  link.click();
  // Not at once: the browser reads it after this.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

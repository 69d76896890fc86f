// Computes statistics and formats tables.

export type Row = Record<string, string | number>;

export function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}

export const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;

/** Round to three significant digits. */
export const short = (value: number): number => Number(value.toPrecision(3));

export function table(title: string, rows: readonly Row[]): string {
  const names = Object.keys(rows[0] ?? {});
  const cells = [names, ...rows.map((row) => names.map((name) => String(row[name] ?? "")))];
  const widths = names.map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)));
  const lines = cells.map((row) =>
    row.map((cell, at) => (at ? cell.padStart : cell.padEnd).call(cell, widths[at] ?? 0)).join("  "),
  );
  return `\n${title}\n${lines.join("\n")}`;
}

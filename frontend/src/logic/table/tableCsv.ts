// A table as CSV: every row, with numbers, dates and states as the data has them.
import type { Column } from "../../types/dataTable.ts";
import { csvOf } from "../markdown/csv.ts";
import { cellOf, type Row, textOf } from "./dataTable.ts";

/** Images are left out: their paths work on this server only. The address of a link follows its text. */
export function tableCsv(columns: readonly Column[], rows: readonly Row[]): string {
  const fields = columns.flatMap(({ key, label, format }) => {
    if (format?.kind === "image") return [];
    const text = { key, label };
    return format?.kind === "link" && format.hrefKey !== undefined
      ? [text, { key: format.hrefKey, label: `${label}: address` }]
      : [text];
  });
  return csvOf([fields.map(({ label }) => label), ...rows.map((row) => fields.map(({ key }) => cellValue(row, key)))]);
}

function cellValue(row: Row, key: string): string {
  const cell = cellOf(row, key);
  return Array.isArray(cell) ? cell.map((value) => value ?? "").join(", ") : textOf(row, key);
}

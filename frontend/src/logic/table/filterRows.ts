// Finds the rows of a table that contain the words of a filter.
import type { Column } from "../../types/dataTable.ts";
import { cellText } from "./cellText.ts";
import { cellOf, type Row } from "./dataTable.ts";

/** The rows whose shown text contains every word, in any order, ignoring case. */
export function filteredRows(rows: readonly Row[], columns: readonly Column[], filter: string): readonly Row[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  return rows.filter((row) => {
    const text = textOfRow(row, columns);
    return words.every((word) => text.includes(word));
  });
}

/** Formatting takes longer than searching, so the text of a row is kept. The rows of a table never change. */
const texts = new WeakMap<Row, string>();

function textOfRow(row: Row, columns: readonly Column[]): string {
  const kept = texts.get(row);
  if (kept !== undefined) return kept;
  const text = columns.map(({ key, format }) => cellText(cellOf(row, key), format)).join("\n");
  const lower = text.toLowerCase();
  texts.set(row, lower);
  return lower;
}

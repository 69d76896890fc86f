// Sorts the rows of a table by the values of a column, not by their text: 9 comes before 10.
import type { Column } from "../../types/dataTable.ts";
import { type Cell, cellOf, type Row } from "./dataTable.ts";

export type Direction = "ascending" | "descending";

export interface Sorting {
  key: string;
  direction: Direction;
}

/** The next sorting if the user presses the heading of a column: ascending, descending, and the order of the data. */
export function nextSorting(now: Sorting | undefined, key: string): Sorting | undefined {
  if (now?.key !== key) return { key, direction: "ascending" };
  return now.direction === "ascending" ? { key, direction: "descending" } : undefined;
}

const texts = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

/** A new list in the given order. Rows with equal cells keep their order; empty cells are last in both directions. */
export function sortedRows(
  rows: readonly Row[],
  columns: readonly Column[],
  sorting: Sorting | undefined,
): readonly Row[] {
  const column = columns.find(({ key }) => key === sorting?.key);
  if (!sorting || !column) return rows;
  const sign = sorting.direction === "ascending" ? 1 : -1;
  const keyed = rows.map((row) => ({ row, value: sortValue(cellOf(row, column.key), column) }));
  return keyed
    .sort((a, b) => {
      if (a.value === undefined || b.value === undefined)
        return Number(a.value === undefined) - Number(b.value === undefined);
      return sign * compared(a.value, b.value);
    })
    .map(({ row }) => row);
}

/** What a cell is sorted by, undefined if it is empty. */
function sortValue(cell: Cell, column: Column): number | string | undefined {
  if (cell === null || cell === "") return undefined;
  if (Array.isArray(cell)) return cell.length > 0 ? cell.join(", ") : undefined;
  if (typeof cell !== "string") return Number(cell);
  if (column.format?.kind !== "date") return cell;
  const time = Date.parse(cell);
  return Number.isNaN(time) ? undefined : time;
}

/** Numbers come before texts in a column that has both. */
function compared(a: number | string, b: number | string): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "string" && typeof b === "string") return texts.compare(a, b);
  return typeof a === "number" ? -1 : 1;
}

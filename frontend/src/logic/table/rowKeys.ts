// Keys of rows, which have no id. A row keeps its key when the table is sorted or filtered.
import type { Row } from "./dataTable.ts";

const keys = new WeakMap<Row, number>();
let last = 0;

export function keyOf(row: Row): number {
  const known = keys.get(row);
  if (known !== undefined) return known;
  last += 1;
  keys.set(row, last);
  return last;
}

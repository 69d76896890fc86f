// Reads DataTables, the artifacts of some tool results, and the cells of their rows.
import type { Column, DataTable } from "../../types/dataTable.ts";

export type Row = DataTable["data"][number];
export type Cell = Row[string];
export type Format = NonNullable<Column["format"]>;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isColumn = (value: unknown): boolean =>
  isObject(value) && typeof value.key === "string" && typeof value.label === "string";

/** The artifact of a result if it is a DataTable. The server has validated its cells. */
export function tableOf(artifact: unknown): DataTable | undefined {
  if (!isObject(artifact)) return undefined;
  const { surfaceId, columns, data } = artifact;
  if (typeof surfaceId !== "string" || !Array.isArray(columns) || !Array.isArray(data)) return undefined;
  if (columns.length === 0 || !columns.every(isColumn) || !data.every(isObject)) return undefined;
  return artifact as unknown as DataTable;
}

/** The cell of a row. A missing cell is null; inherited properties such as `constructor` are not cells. */
export const cellOf = (row: Row, key: string): Cell => (Object.hasOwn(row, key) ? (row[key] ?? null) : null);

/** The text of a cell, empty for a list or an empty cell. */
export function textOf(row: Row, key: string | undefined): string {
  const cell = key === undefined ? null : cellOf(row, key);
  return cell === null || Array.isArray(cell) ? "" : String(cell);
}

// Signalbox's DataTable (docs/data-table.md), and the order of its rows.

type Value = string | number | boolean | null;
export type Cell = Value | Value[];
export type Row = Record<string, Cell>;

export interface Column {
  key: string;
  label: string;
  sortable?: boolean;
  align?: "left" | "right" | "center";
  format?: { kind: string } & Record<string, unknown>;
}

export interface Table {
  surfaceId: string;
  columns: Column[];
  data: Row[];
  caption?: string;
  error?: string;
}

export interface Sorting {
  key: string;
  direction: "ascending" | "descending";
}

/** Return the artifact of a result if it is a DataTable; Signalbox has validated its cells. */
export function tableOf(artifact: unknown): Table | undefined {
  const { surfaceId, columns, data } = (artifact ?? {}) as Partial<Table>;
  const isTable = typeof surfaceId === "string" && Array.isArray(columns) && Array.isArray(data);
  return isTable ? (artifact as Table) : undefined;
}

/** The next sorting when a heading is pressed: ascending, descending, none. */
export function nextSorting(now: Sorting | undefined, key: string): Sorting | undefined {
  if (now?.key !== key) return { key, direction: "ascending" };
  return now.direction === "ascending" ? { key, direction: "descending" } : undefined;
}

/** The rows in order: numbers as numbers, empty cells last. */
export function sorted(rows: readonly Row[], sorting: Sorting | undefined): readonly Row[] {
  if (!sorting) return rows;
  const sign = sorting.direction === "ascending" ? 1 : -1;
  return rows.toSorted((one, other) => {
    const [a, b] = [one[sorting.key] ?? "", other[sorting.key] ?? ""];
    if (a === "" || b === "") return Number(a === "") - Number(b === "");
    if (typeof a === "number" && typeof b === "number") return sign * (a - b);
    return sign * String(a).localeCompare(String(b), undefined, { numeric: true });
  });
}

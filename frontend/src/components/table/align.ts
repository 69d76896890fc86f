// The alignment of a column: numbers are aligned at the end unless the table says otherwise.
import type { Column } from "../../types/dataTable.ts";

const CLASSES = { left: "text-start", right: "text-end tabular-nums", center: "text-center" } as const;
const NUMBERS: ReadonlySet<string | undefined> = new Set(["number", "currency", "percent", "delta"]);

export const alignOf = ({ align, format }: Column): string =>
  CLASSES[align ?? (NUMBERS.has(format?.kind) ? "right" : "left")];

// Rows are rendered in groups, so that showing further rows leaves the groups before them alone.
import type { Row } from "../../logic/table/dataTable.ts";

/** The number of rows of a group. */
export const GROUP = 50;

/** The index of the first row of each group that is shown. */
export const groupStarts = (rows: readonly Row[], limit: number): readonly number[] =>
  Array.from({ length: Math.ceil(Math.min(rows.length, limit) / GROUP) }, (_, group) => group * GROUP);

export const groupAt = (rows: readonly Row[], start: number): readonly Row[] => rows.slice(start, start + GROUP);

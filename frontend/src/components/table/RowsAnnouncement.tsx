// Announces a new order and the number of rows that a filter finds to screen readers.
import { useState } from "react";
import type { Sorting } from "../../logic/table/sortRows.ts";
import { plural } from "../../logic/wording/statusAndAmounts.ts";
import type { Column } from "../../types/dataTable.ts";

interface Props {
  columns: readonly Column[];
  sorting: Sorting | undefined;
  filter: string;
  found: number;
}

/** Says nothing before the first change. */
export function RowsAnnouncement({ columns, sorting, filter, found }: Props) {
  const [first] = useState({ sorting, filter });
  const [hasChanged, change] = useState(false);
  if (!hasChanged && (sorting !== first.sorting || filter !== first.filter)) change(true);
  const label = columns.find(({ key }) => key === sorting?.key)?.label;
  const order = sorting && label ? `Sorted by ${label}, ${sorting.direction}.` : "Original order.";
  return (
    <p className="sr-only" role="status" aria-live="polite">
      {hasChanged && (filter ? `${plural(found, "row")}. ${order}` : order)}
    </p>
  );
}

// A DataTable: a sortable table, or cards where its place is narrow. It is loaded with the first table.
import { useDeferredValue, useMemo, useState } from "react";
import { type Sorting, sortedRows } from "../../logic/table/sortRows.ts";
import { plural } from "../../logic/wording/statusAndAmounts.ts";
import type { Column, DataTable } from "../../types/dataTable.ts";
import { Button } from "../ui/Button.tsx";
import { Cards } from "./Cards.tsx";
import { Grid } from "./Grid.tsx";
import { SortField } from "./SortField.tsx";

/** More rows are shown on request. */
const SHOWN = 50;

export function DataTableView({ table }: { table: DataTable }) {
  const { columns, data, caption = "Table", error } = table;
  const [sorting, sort] = useState<Sorting>();
  const [isWhole, showAll] = useState(false);
  const sorted = useDeferredValue(sorting);
  const rows = useMemo(() => sortedRows(data, columns, sorted), [data, columns, sorted]);
  const shown = isWhole ? rows : rows.slice(0, SHOWN);
  return (
    <section aria-label={caption} data-part="table" className="@container grid grid-cols-[minmax(0,1fr)] gap-1.5">
      <p className="text-dim text-small" dir="auto">
        {caption}
      </p>
      {error && (
        <p className="text-red-ink wrap-anywhere" data-part="table-error">
          {error}
        </p>
      )}
      {rows.length === 0 && !error && <p className="text-dim">Nothing found.</p>}
      {rows.length > 0 && (
        <>
          <div className="hidden @max-lg:block">
            <SortField columns={columns} sorting={sorting} onSort={sort} />
            <Cards columns={columns} rows={shown} />
          </div>
          <div className="@max-lg:hidden">
            <Grid caption={caption} columns={columns} rows={shown} sorting={sorting} onSort={sort} />
          </div>
        </>
      )}
      {rows.length > shown.length && (
        <Button className="justify-self-start -ms-2" onClick={() => showAll(true)}>
          Show {plural(rows.length - shown.length, "more row")}
        </Button>
      )}
      <SortAnnouncement columns={columns} sorting={sorting} />
    </section>
  );
}

interface SortedProps {
  columns: readonly Column[];
  sorting: Sorting | undefined;
}

/** Says the new order to screen readers, nothing before the first change. */
function SortAnnouncement({ columns, sorting }: SortedProps) {
  const [first] = useState(sorting);
  const [hasChanged, change] = useState(false);
  if (!hasChanged && sorting !== first) change(true);
  const label = columns.find(({ key }) => key === sorting?.key)?.label;
  const words = sorting && label ? `Sorted by ${label}, ${sorting.direction}.` : "Original order.";
  return (
    <p className="sr-only" role="status" aria-live="polite">
      {hasChanged && words}
    </p>
  );
}

// A DataTable: a sortable table, or cards where its place is narrow. It is loaded with the first table.
import { useDeferredValue, useMemo, useState } from "react";
import { type Sorting, sortedRows } from "../../logic/table/sortRows.ts";
import { count, plural } from "../../logic/wording/statusAndAmounts.ts";
import type { Column, DataTable } from "../../types/dataTable.ts";
import { Button } from "../ui/Button.tsx";
import { Cards } from "./Cards.tsx";
import { Grid } from "./Grid.tsx";
import { useNarrow } from "./narrow.ts";
import { SortField } from "./SortField.tsx";

/** The rows that are shown first, and the further rows that each request shows. */
const FIRST = 50;
const STEP = 100;

export function DataTableView({ table }: { table: DataTable }) {
  const { columns, data, caption = "Table", error } = table;
  const [sorting, sort] = useState<Sorting>();
  const [limit, setLimit] = useState(FIRST);
  const { box, isNarrow } = useNarrow();
  const sorted = useDeferredValue(sorting);
  const rows = useMemo(() => sortedRows(data, columns, sorted), [data, columns, sorted]);
  const hidden = Math.max(rows.length - limit, 0);
  return (
    <section
      ref={box}
      aria-label={caption}
      data-part="table"
      tabIndex={-1}
      className="grid grid-cols-[minmax(0,1fr)] gap-1.5 outline-none"
    >
      <p className="text-dim text-small" dir="auto">
        {caption}
      </p>
      {error && (
        <p className="text-red-ink wrap-anywhere" data-part="table-error">
          {error}
        </p>
      )}
      {rows.length === 0 && !error && <p className="text-dim">Nothing found.</p>}
      {rows.length > 0 && isNarrow === true && (
        <div>
          <SortField columns={columns} sorting={sorting} onSort={sort} />
          <Cards columns={columns} rows={rows} limit={limit} />
        </div>
      )}
      {rows.length > 0 && isNarrow === false && (
        <Grid caption={caption} columns={columns} rows={rows} limit={limit} sorting={sorting} onSort={sort} />
      )}
      {hidden > 0 && (
        <Button
          className="justify-self-start -ms-2"
          onClick={({ currentTarget }) => {
            setLimit(limit + STEP);
            // The button of the last rows disappears.
            if (hidden <= STEP) currentTarget.closest("section")?.focus({ preventScroll: true });
          }}
        >
          Show {plural(Math.min(hidden, STEP), "more row")} of {count(rows.length)}
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

// A DataTable: a sortable table, or cards where its place is narrow. It is loaded with the first table.
import { useDeferredValue, useMemo, useState } from "react";
import { filteredRows } from "../../logic/table/filterRows.ts";
import { type Sorting, sortedRows } from "../../logic/table/sortRows.ts";
import type { DataTable } from "../../types/dataTable.ts";
import { Cards } from "./Cards.tsx";
import { CsvButtons } from "./CsvButtons.tsx";
import { FilterField } from "./FilterField.tsx";
import { Grid } from "./Grid.tsx";
import { useNarrow } from "./narrow.ts";
import { RowsAnnouncement } from "./RowsAnnouncement.tsx";
import { isLarge } from "./rowWindow.ts";
import { SortField } from "./SortField.tsx";

export function DataTableView({ table }: { table: DataTable }) {
  const { columns, data, caption = "Table", error } = table;
  const [sorting, sort] = useState<Sorting>();
  const [filter, setFilter] = useState("");
  const { box, isNarrow } = useNarrow();
  // The field shows a key at once; the rows follow.
  const applied = useDeferredValue(filter);
  const rows = useMemo(
    () => sortedRows(filteredRows(data, columns, applied), columns, sorting),
    [data, columns, applied, sorting],
  );
  return (
    <section ref={box} aria-label={caption} data-part="table" className="grid grid-cols-[minmax(0,1fr)] gap-1.5">
      <p className="text-dim text-small" dir="auto">
        {caption}
      </p>
      {error && (
        <p className="text-red-ink wrap-anywhere" data-part="table-error">
          {error}
        </p>
      )}
      {data.length === 0 && !error && <p className="text-dim">Nothing found.</p>}
      {isLarge(table) && (
        <FilterField caption={caption} filter={filter} onFilter={setFilter} found={rows.length} total={data.length} />
      )}
      {data.length > 0 && isNarrow === true && (
        <div>
          <SortField columns={columns} sorting={sorting} onSort={sort} />
          <Cards table={table} caption={caption} rows={rows} />
        </div>
      )}
      {data.length > 0 && isNarrow === false && (
        <Grid table={table} caption={caption} rows={rows} sorting={sorting} onSort={sort} />
      )}
      {data.length > 0 && <CsvButtons caption={caption} columns={columns} rows={rows} />}
      <RowsAnnouncement columns={columns} sorting={sorting} filter={applied} found={rows.length} />
    </section>
  );
}

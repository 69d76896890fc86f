import { useState } from "react";
import { CellView } from "./CellView";
import { type Column, nextSorting, type Sorting, sorted, type Table } from "./dataTable";

/** A table whose headings sort it. Where it is narrow, its rows are cards: the roles keep it a table. */
export function DataTable({ table: { columns, data, caption = "Table", error } }: { table: Table }) {
  const [sorting, setSorting] = useState<Sorting>();
  const label = columns.find(({ key }) => key === sorting?.key)?.label;
  if (error) return <p className="failure">{error}</p>;
  if (data.length === 0) return <p className="note">Nothing found.</p>;
  return (
    <div className="table-box" tabIndex={0} role="region" aria-label={caption}>
      <table role="table">
        <caption>{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <Heading key={column.key} column={column} sorting={sorting} onSort={setSorting} />
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {sorted(data, sorting).map((row) => (
            <tr role="row" key={data.indexOf(row)}>
              {columns.map((column) => (
                <td role="cell" key={column.key} data-label={column.label} data-kind={column.format?.kind} align={column.align}>
                  <CellView column={column} row={row} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <p role="status" className="hidden">
        {sorting && `Sorted by ${label}, ${sorting.direction}.`}
      </p>
    </div>
  );
}

interface HeadingProps {
  column: Column;
  sorting: Sorting | undefined;
  onSort: (sorting: Sorting | undefined) => void;
}

function Heading({ column: { key, label, sortable = true, align }, sorting, onSort }: HeadingProps) {
  const direction = sorting?.key === key ? sorting.direction : "none";
  if (!sortable)
    return (
      <th role="columnheader" scope="col" data-fixed align={align}>
        {label}
      </th>
    );
  return (
    <th role="columnheader" scope="col" aria-sort={direction} align={align}>
      <button type="button" onClick={() => onSort(nextSorting(sorting, key))}>
        {label} <span aria-hidden="true">{{ none: "↕", ascending: "↑", descending: "↓" }[direction]}</span>
      </button>
    </th>
  );
}

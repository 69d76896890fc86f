// The rows of a DataTable as a table that scrolls in its box, with headings that sort.
import { ArrowDown, ArrowUp, ArrowUpDown } from "lucide-react";
import { memo } from "react";
import type { Row } from "../../logic/table/dataTable.ts";
import { nextSorting, type Sorting } from "../../logic/table/sortRows.ts";
import type { Column } from "../../types/dataTable.ts";
import { alignOf } from "./align.ts";
import { CellView } from "./CellView.tsx";
import { groupAt, groupStarts } from "./groups.ts";

interface Props {
  caption: string;
  columns: readonly Column[];
  rows: readonly Row[];
  /** The number of rows that are shown. */
  limit: number;
  sorting: Sorting | undefined;
  onSort: (sorting: Sorting | undefined) => void;
}

export function Grid({ caption, columns, rows, limit, sorting, onSort }: Props) {
  return (
    <section
      aria-label={`Rows of ${caption}`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keyboard.
      tabIndex={0}
      className="max-h-[70vh] overflow-auto rounded-md border border-edge print:max-h-none print:overflow-visible"
    >
      <table aria-rowcount={rows.length + 1} className="w-full text-start text-small">
        <caption className="sr-only">{caption}</caption>
        <thead className="sticky top-0 z-1 bg-sunken">
          <tr>
            {columns.map((column) => (
              <Heading key={column.key} column={column} sorting={sorting} onSort={onSort} />
            ))}
          </tr>
        </thead>
        {groupStarts(rows, limit).map((start) => (
          <Group key={start} columns={columns} rows={rows} start={start} />
        ))}
      </table>
    </section>
  );
}

interface HeadingProps {
  column: Column;
  sorting: Sorting | undefined;
  onSort: (sorting: Sorting | undefined) => void;
}

function Heading({ column, sorting, onSort }: HeadingProps) {
  const { key, label, abbr, sortable, width } = column;
  const direction = sorting?.key === key ? sorting.direction : undefined;
  const Arrow = direction === "ascending" ? ArrowUp : direction === "descending" ? ArrowDown : ArrowUpDown;
  const name = abbr ? <abbr title={label}>{abbr}</abbr> : label;
  return (
    <th
      scope="col"
      aria-sort={sortable === false ? undefined : (direction ?? "none")}
      ref={(cell) => cell?.style.setProperty("width", width ?? "")}
      className={`whitespace-nowrap px-2 py-1 font-medium ${alignOf(column)}`}
    >
      {sortable === false ? (
        name
      ) : (
        <button
          type="button"
          className={`inline-flex cursor-pointer items-center gap-1 rounded-sm hover:text-accent ${direction ? "text-accent" : ""}`}
          onClick={() => onSort(nextSorting(sorting, key))}
        >
          {name}
          <Arrow aria-hidden="true" className={`size-3.5 ${direction ? "" : "text-dim"}`} />
        </button>
      )}
    </th>
  );
}

interface GroupProps {
  columns: readonly Column[];
  rows: readonly Row[];
  start: number;
}

/** Groups that are shown already are not rendered again for further rows. */
const Group = memo(function Group({ columns, rows, start }: GroupProps) {
  return (
    <tbody>
      {groupAt(rows, start).map((row, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity, and cells have no state worth keeping.
        <tr key={index} className="border-edge border-t align-middle">
          {columns.map((column) => (
            <td key={column.key} className={`max-w-80 px-2 py-1.5 wrap-anywhere ${alignOf(column)}`}>
              <CellView column={column} row={row} />
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  );
});

// The heading of a column, which sorts the table.
import { ArrowDown, ArrowUp, ArrowUpDown } from "lucide-react";
import { nextSorting, type Sorting } from "../../logic/table/sortRows.ts";
import type { Column } from "../../types/dataTable.ts";
import { alignOf } from "./align.ts";

interface Props {
  column: Column;
  sorting: Sorting | undefined;
  onSort: (sorting: Sorting | undefined) => void;
}

export function Heading({ column, sorting, onSort }: Props) {
  const { key, label, abbr, sortable, width } = column;
  const direction = sorting?.key === key ? sorting.direction : undefined;
  const Arrow = direction === "ascending" ? ArrowUp : direction === "descending" ? ArrowDown : ArrowUpDown;
  const name = abbr ? <abbr title={label}>{abbr}</abbr> : label;
  return (
    <th
      scope="col"
      aria-sort={sortable === false ? undefined : (direction ?? "none")}
      ref={(cell) => cell?.style.setProperty("width", width ?? "")}
      className={`min-w-0 whitespace-nowrap px-2 py-1 font-medium ${alignOf(column)}`}
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

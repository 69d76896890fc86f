// Sorts cards, which have no headings.
import type { Direction, Sorting } from "../../logic/table/sortRows.ts";
import type { Column } from "../../types/dataTable.ts";

interface Props {
  columns: readonly Column[];
  sorting: Sorting | undefined;
  onSort: (sorting: Sorting | undefined) => void;
}

const DIRECTIONS: readonly Direction[] = ["ascending", "descending"];

export function SortField({ columns, sorting, onSort }: Props) {
  const choices = columns
    .filter(({ sortable }) => sortable !== false)
    .flatMap(({ key, label }) => DIRECTIONS.map((direction) => ({ key, label, direction })));
  if (choices.length === 0) return null;
  const chosen = choices.findIndex(({ key, direction }) => key === sorting?.key && direction === sorting.direction);
  return (
    <label className="flex items-center gap-2 pb-1.5 text-dim text-small">
      Sort by
      <select
        className="min-w-0 rounded-md border border-edge bg-raised px-2 py-1 text-ink"
        value={chosen}
        onChange={({ target }) => onSort(choices[Number(target.value)])}
      >
        <option value={-1}>Original order</option>
        {choices.map(({ key, label, direction }, index) => (
          <option key={`${key} ${direction}`} value={index}>
            {label}, {direction}
          </option>
        ))}
      </select>
    </label>
  );
}

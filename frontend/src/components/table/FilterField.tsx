// Filters the rows of a large table. The browser's search finds only the rows in view.
import { count, plural } from "../../logic/wording/statusAndAmounts.ts";

interface Props {
  caption: string;
  filter: string;
  onFilter: (filter: string) => void;
  found: number;
  total: number;
}

export function FilterField({ caption, filter, onFilter, found, total }: Props) {
  return (
    <div className="flex items-center gap-2">
      <input
        type="search"
        dir="auto"
        aria-label={`Filter ${caption}`}
        placeholder="Filter"
        autoComplete="off"
        spellCheck={false}
        value={filter}
        onChange={({ target }) => onFilter(target.value)}
        onKeyDown={(event) => {
          // Escape clears the field. It does not stop the answer as well.
          if (event.key !== "Escape" || !filter || event.nativeEvent.isComposing) return;
          event.preventDefault();
          event.stopPropagation();
          onFilter("");
        }}
        className="h-7 w-64 min-w-0 rounded-md border border-edge bg-raised px-2 text-small placeholder:text-dim narrow:h-8"
      />
      <span className="whitespace-nowrap text-dim text-small tabular-nums" aria-hidden="true">
        {found === total ? plural(total, "row") : `${count(found)} of ${plural(total, "row")}`}
      </span>
    </div>
  );
}

// The fields that filter the list of events: text, type, and whether deltas are grouped.
import { useId } from "react";
import type { EventFilter } from "../../logic/inspector/eventRows.ts";
import { count } from "../../logic/wording/statusAndAmounts.ts";

interface Props {
  filter: EventFilter;
  onChange: (filter: EventFilter) => void;
  /** The number of events of each type. */
  types: ReadonlyMap<string, number>;
}

const FIELD = "h-7 narrow:h-8 rounded-md border border-edge bg-raised px-2 text-small";

export function EventFilterFields({ filter, onChange, types }: Props) {
  const foldId = useId();
  return (
    <div className="flex flex-wrap items-center gap-2 px-4 pb-1">
      <input
        type="search"
        dir="auto"
        aria-label="Filter events"
        placeholder="Filter"
        value={filter.text}
        onChange={(event) => onChange({ ...filter, text: event.target.value })}
        className={`${FIELD} min-w-24 flex-1 placeholder:text-dim`}
      />
      <select
        aria-label="Event type"
        value={filter.type}
        onChange={(event) => onChange({ ...filter, type: event.target.value })}
        className={`${FIELD} min-w-0`}
      >
        <option value="">All types</option>
        {[...types].map(([name, many]) => (
          <option key={name} value={name}>
            {name} ({count(many)})
          </option>
        ))}
      </select>
      <label htmlFor={foldId} className="flex h-6 cursor-pointer items-center gap-1.5 text-dim text-small narrow:h-8">
        <input
          id={foldId}
          type="checkbox"
          checked={filter.fold}
          onChange={(event) => onChange({ ...filter, fold: event.target.checked })}
          className="accent-accent"
        />
        Group deltas
      </label>
    </div>
  );
}

// All events of a run in a virtual list.
import { ChevronRight } from "lucide-react";
import { useDeferredValue, useMemo, useState } from "react";
import { VList } from "virtua";
import { type EventFilter, type EventRow, eventRows, rowsText, typesOf } from "../../logic/inspector/eventRows.ts";
import { count, duration, plural } from "../../logic/wording/statusAndAmounts.ts";
import type { RawEvent } from "../../types/api.ts";
import { Copy } from "../ui/Copy.tsx";
import { EventFilterFields } from "./EventFilterFields.tsx";
import { Json } from "./Json.tsx";

interface Props {
  events: readonly RawEvent[];
  /** The epoch milliseconds that times are relative to. */
  from: number | undefined;
  /** The message if there are no events. */
  missing: string;
}

const ROW = 28;

export function EventList({ events, from, missing }: Props) {
  const [filter, setFilter] = useState<EventFilter>({ text: "", type: "", fold: true });
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const { type, fold } = filter;
  const wanted = useDeferredValue(filter.text);
  const rows = useMemo(() => eventRows(events, { text: wanted, type, fold }), [events, wanted, type, fold]);
  const types = useMemo(() => typesOf(events), [events]);
  const shown = rows.reduce((all, row) => all + row.events.length, 0);

  const toggle = (key: number) => {
    const next = new Set(open);
    if (!next.delete(key)) next.add(key);
    setOpen(next);
  };

  if (events.length === 0) return <p className="p-4 text-dim text-small">{missing}</p>;
  return (
    <div data-part="events" className="flex min-h-0 flex-1 flex-col">
      <EventFilterFields filter={filter} onChange={setFilter} types={types} />
      <div className="flex items-center justify-between gap-2 px-4 pb-1">
        <p className="text-dim text-tiny tabular-nums" role="status">
          {shown === events.length
            ? plural(events.length, "event")
            : `${count(shown)} of ${plural(events.length, "event")}`}
        </p>
        <Copy text={() => rowsText(rows)} disabled={rows.length === 0}>
          Copy these events
        </Copy>
      </div>
      {rows.length === 0 ? (
        <p className="px-4 text-dim text-small">No events match this filter.</p>
      ) : (
        <VList
          data={rows}
          itemSize={ROW}
          className="min-h-0 flex-1 border-edge border-t"
          tabIndex={-1}
          aria-label="Events"
        >
          {(row) => (
            <EventLine key={row.key} row={row} from={from} open={open.has(row.key)} onToggle={() => toggle(row.key)} />
          )}
        </VList>
      )}
    </div>
  );
}

interface LineProps {
  row: EventRow;
  from: number | undefined;
  open: boolean;
  onToggle: () => void;
}

function EventLine({ row, from, open, onToggle }: LineProps) {
  const { first, last, type, at, summary, events } = row;
  return (
    <div data-part="event" className="border-edge border-b">
      <button
        type="button"
        aria-expanded={open}
        onClick={onToggle}
        className="grid h-7 narrow:h-8 w-full cursor-pointer grid-cols-[1rem_3.5rem_4rem_6.5rem_1fr] items-center gap-2 px-4 text-start text-tiny tabular-nums -outline-offset-2 hover:bg-sunken narrow:grid-cols-[1rem_3.5rem_6.5rem_1fr]"
      >
        <ChevronRight
          className={`size-3.5 text-dim transition-transform ${open ? "rotate-90" : ""}`}
          aria-hidden="true"
        />
        <span className="whitespace-nowrap text-dim">{first === last ? first : `${first}–${last}`}</span>
        <span className="text-end text-dim narrow:hidden">{offsetOf(at, from)}</span>
        <span className="truncate">
          {type}
          {events.length > 1 && <span className="text-dim"> ×{count(events.length)}</span>}
        </span>
        <span className="truncate font-mono text-dim">{summary}</span>
      </button>
      {open && (
        <div className="px-4 pb-2 ps-11 narrow:ps-4">
          <Json
            title={events.length > 1 ? `Events ${first} to ${last}` : `Event ${first}`}
            value={events.length > 1 ? rowsText([row]) : events[0]?.event}
          />
        </div>
      )}
    </div>
  );
}

/** Text events have no time. */
const offsetOf = (at: number | undefined, from: number | undefined): string =>
  at === undefined || from === undefined ? "" : `+${duration(at - from)}`;

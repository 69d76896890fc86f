// The timeline: one row per attempt, reasoning, tool call and text. Selecting a row shows its details below.
import { type KeyboardEvent, useRef, useState } from "react";
import type { Row, Waterfall } from "../../logic/inspector/waterfall.ts";
import { duration } from "../../logic/wording/statusAndAmounts.ts";
import type { RawEvent, RunRecord } from "../../types/api.ts";
import { Lamp } from "../ui/Lamp.tsx";
import { RowDetail } from "./RowDetail.tsx";
import { useRowLabel } from "./rowLabel.ts";
import { TimelineBar, TimelineTicks } from "./TimelineBar.tsx";

interface Props {
  fall: Waterfall;
  record: RunRecord | undefined;
  events: readonly RawEvent[];
}

const GRID = "grid grid-cols-[minmax(8.5rem,34%)_1fr_3.5rem] gap-2";

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

export function Timeline({ fall: { rows, ticks }, record, events }: Props) {
  const [chosen, setChosen] = useState<string>();
  const list = useRef<HTMLOListElement>(null);
  const selected = rows.find(({ id }) => id === chosen);
  const inReach = selected?.id ?? rows[0]?.id;

  const onKeyDown = (event: KeyboardEvent) => {
    const index = rows.findIndex(({ id }) => id === (event.target as HTMLElement).dataset.row);
    const next = event.key === "Home" ? 0 : event.key === "End" ? rows.length - 1 : index + (STEPS[event.key] ?? 0);
    const row = rows[next];
    if (index < 0 || next === index || !row) return;
    event.preventDefault();
    setChosen(row.id);
    list.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(row.id)}"]`)?.focus();
  };

  if (rows.length === 0) return <p className="text-dim text-small">Nothing to show yet.</p>;
  return (
    <div data-part="timeline">
      <div className={`${GRID} px-1`}>
        <span className="pt-0.5 text-dim text-tiny">{rows.length} rows</span>
        <TimelineTicks ticks={ticks} />
        <span />
      </div>
      <ol ref={list} onKeyDown={onKeyDown} aria-label="Timeline rows" className="border-edge border-y py-1">
        {rows.map((row) => (
          <li key={row.id}>
            <button
              type="button"
              data-row={row.id}
              data-part="row"
              tabIndex={row.id === inReach ? 0 : -1}
              aria-pressed={row.id === chosen}
              onClick={() => setChosen(row.id === chosen ? undefined : row.id)}
              className={`${GRID} w-full narrow:h-8 cursor-pointer items-center rounded-sm px-1 text-start text-small aria-pressed:bg-accent-wash ${row.id === chosen ? "" : "hover:bg-sunken"}`}
            >
              <RowName row={row} />
              <TimelineBar row={row} ticks={ticks} />
              <span className="text-end text-dim text-tiny tabular-nums">{timeOf(row)}</span>
            </button>
          </li>
        ))}
      </ol>
      {selected ? (
        <RowDetail key={selected.id} row={selected} record={record} events={events} />
      ) : (
        <p className="pt-2 text-dim text-tiny">Select a row to see its request and result. Use ↑ and ↓ to move.</p>
      )}
    </div>
  );
}

const timeOf = ({ ms }: Row): string => (ms === undefined ? "unknown" : duration(ms));

function RowName({ row }: { row: Row }) {
  const { subject, marks, hint, lamp } = row;
  const label = useRowLabel()(row);
  const isStep = subject.kind === "attempt";
  const technical = subject.kind === "call" ? [subject.item.name] : [];
  return (
    <span
      title={[label, ...technical, ...marks, hint].filter(Boolean).join(" · ")}
      className={`flex min-w-0 items-center gap-1.5 ${isStep ? "" : "ps-3"}`}
    >
      <Lamp lamp={lamp} spoken />
      <span className={`truncate ${isStep ? "shrink-0 font-medium" : ""}`}>{label}</span>
      {marks.length > 0 && <span className="shrink-[9] truncate text-dim text-tiny">{marks.join(", ")}</span>}
      {hint && <span className="min-w-0 flex-1 basis-0 truncate text-dim text-tiny">{hint}</span>}
    </span>
  );
}

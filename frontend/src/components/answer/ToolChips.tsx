// A burst of calls of tools other than search: one line with a chip per tool, and below it the input and result of each
// call.
import { memo } from "react";
import { burstLamp, hasFailed, lampOf, type Stop, timeMs, wasHanded } from "../../logic/answer/stops.ts";
import { isOpen } from "../../logic/trace/items.ts";
import { failureOf } from "../../logic/wording/advice.ts";
import { duration } from "../../logic/wording/statusAndAmounts.ts";
import type { CallItem } from "../../types/models.ts";
import { Lamp } from "../ui/Lamp.tsx";
import { useToolTitle } from "../ui/Tools.tsx";
import { FailedCalls } from "./failure/FailedCalls.tsx";
import { isSameBurst } from "./SearchResultsInline.tsx";
import { Aside, StepHeader } from "./StepHeader.tsx";
import { ToolValue } from "./ToolValue.tsx";

type ToolsStop = Extract<Stop, { kind: "tools" }>;

/** Further tools are only counted. */
const CHIPS = 3;

interface Props {
  stop: ToolsStop;
  open: boolean;
  /** The user has opened or closed the panel, so failures have been seen. */
  touched: boolean;
  onToggle: (id: string, open: boolean) => void;
}

export const ToolChips = memo(function ToolChips({ stop, open, touched, onToggle }: Props) {
  const { calls } = stop;
  return (
    <StepHeader
      id={stop.id}
      kind="tools"
      lamp={burstLamp(calls, touched)}
      title={<Title calls={calls} touched={touched} />}
      open={open}
      onToggle={onToggle}
    >
      <ul className="grid grid-cols-[minmax(0,1fr)] gap-2 pt-1.5 pb-0.5">
        {calls.map((call) => (
          <CallCard key={call.id} call={call} />
        ))}
      </ul>
    </StepHeader>
  );
}, isSameBurst);

function Title({ calls, touched }: { calls: readonly CallItem[]; touched: boolean }) {
  const byName = [...Map.groupBy(calls, (call) => call.name)];
  const failed = calls.filter(hasFailed).length;
  const handed = calls.filter(wasHanded).length;
  const shown = byName.slice(0, CHIPS);
  const rest = byName.length - shown.length;
  return (
    <>
      {calls.some(isOpen) ? "Using" : handed === calls.length ? "Handed to the client" : "Used"}
      {shown.map(([name, same]) => (
        <Chip key={name} name={name} calls={same} touched={touched} />
      ))}
      {rest > 0 && <Aside>{rest} more</Aside>}
      {handed > 0 && handed < calls.length && <Aside>{handed} handed to the client</Aside>}
      <FailedCalls failed={failed} of={calls.length} touched={touched} />
    </>
  );
}

function Chip({ name, calls, touched }: { name: string; calls: readonly CallItem[]; touched: boolean }) {
  const titleOf = useToolTitle();
  return (
    <>
      {" "}
      <span
        data-part="chip"
        title={name}
        className="inline-flex max-w-full items-center gap-1.5 rounded-full border border-edge px-2 text-tiny leading-[1.125rem] [&_svg]:size-2.5"
      >
        <Lamp lamp={burstLamp(calls, touched)} spoken={!calls.every(wasHanded)} />
        <span className="min-w-0 truncate">{titleOf(name)}</span>
        {calls.length > 1 && <span className="text-dim">×{calls.length}</span>}
      </span>
    </>
  );
}

/** Shows a call of any tool, including unknown ones. A failed call shows its error instead of a table. */
export function CallCard({ call }: { call: CallItem }) {
  const title = useToolTitle()(call.name);
  const given = call.argumentsRaw ?? call.arguments;
  const hasGiven = typeof given === "string" || Object.keys(given).length > 0;
  return (
    <li
      className="grid grid-cols-[minmax(0,1fr)] gap-1.5 rounded-md border border-edge bg-raised px-3 py-2"
      data-part="tool"
    >
      <p className="flex min-w-0 items-center gap-2 [&_svg]:size-2.5">
        <Lamp lamp={lampOf(call)} spoken={!wasHanded(call)} />
        <span className="min-w-0 truncate font-medium" title={call.name}>
          {title}
        </span>
        <span className="ms-auto shrink-0 text-dim tabular-nums">{outcomeOf(call)}</span>
      </p>
      {hasGiven && <ToolValue label={`Input of ${title}`} value={given} />}
      <Outcome call={call} />
    </li>
  );
}

function Outcome({ call }: { call: CallItem }) {
  const title = useToolTitle()(call.name);
  if (isOpen(call) || wasHanded(call)) return null;
  if (call.status === "done") {
    if (call.result === undefined || call.result === null) return <p className="text-dim">No result.</p>;
    return (
      <div className="border-edge border-t pt-1.5">
        <ToolValue label={`Result of ${title}`} value={call.result} />
      </div>
    );
  }
  return <p className={hasFailed(call) ? "text-red-ink wrap-anywhere" : "text-dim"}>{call.error || failureOf(call)}</p>;
}

function outcomeOf(call: CallItem): string {
  if (isOpen(call)) return call.status === "waiting" ? "waiting" : "running";
  if (call.status === "cancelled") return "stopped";
  if (wasHanded(call)) return "handed to the client";
  if (call.cached) return "cached";
  const ms = timeMs(call);
  const took = ms === undefined ? "" : duration(ms);
  return call.status === "failed" ? ["failed", took].filter(Boolean).join(" · ") : took;
}

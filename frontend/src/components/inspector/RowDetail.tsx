// The details of a row in the timeline: input, result and events.
import { useMemo, useState } from "react";
import { requestFacts, responseFacts } from "../../logic/inspector/attemptFacts.ts";
import { eventText } from "../../logic/inspector/eventRows.ts";
import { withoutSecrets } from "../../logic/inspector/runFacts.ts";
import { eventsOf } from "../../logic/inspector/textPhases.ts";
import type { Row } from "../../logic/inspector/waterfall.ts";
import { count, duration, plural } from "../../logic/wording/statusAndAmounts.ts";
import type { Attempt, RawEvent, RunRecord } from "../../types/api.ts";
import type { CallItem } from "../../types/models.ts";
import { Button } from "../ui/Button.tsx";
import { FactTable } from "./FactTable.tsx";
import { Json } from "./Json.tsx";
import { useRowLabel } from "./rowLabel.ts";

interface Props {
  row: Row;
  record: RunRecord | undefined;
  events: readonly RawEvent[];
}

export function RowDetail({ row, record, events }: Props) {
  const { subject } = row;
  const label = useRowLabel()(row);
  return (
    <section aria-label={`${label}, details`} data-part="row-detail" className="flex flex-col gap-3 pt-3">
      <h3 className="font-semibold text-small">
        {[label, ...row.marks].join(" · ")}
        {subject.kind === "call" && (
          <code className="ms-1.5 font-mono font-normal text-dim text-tiny">{subject.item.name}</code>
        )}
        <span className="font-normal text-dim tabular-nums">{row.ms !== undefined && ` · ${duration(row.ms)}`}</span>
      </h3>
      {subject.kind === "attempt" && <AttemptDetail attempt={subject.attempt} simulated={record?.simulated === true} />}
      {subject.kind === "call" && <CallDetail call={subject.item} />}
      {subject.kind === "reasoning" && (
        <Json
          title="Reasoning"
          value={subject.item.text || (subject.item.hidden ? "The provider does not show this reasoning." : "")}
        />
      )}
      {subject.kind === "text" && <Json title="Text" value={subject.phase.text} />}
      <RowEvents row={row} record={record} events={events} />
    </section>
  );
}

function AttemptDetail({ attempt, simulated }: { attempt: Attempt; simulated: boolean }) {
  return (
    <>
      {attempt.error && (
        <p className="rounded-sm border border-red-edge bg-red-wash px-2 py-1 text-red-ink text-small">
          {attempt.error} {attempt.code && <code className="font-mono text-tiny">{attempt.code}</code>}
        </p>
      )}
      <h4 className="font-medium text-dim text-tiny">Request</h4>
      <FactTable facts={requestFacts(attempt)} />
      <h4 className="font-medium text-dim text-tiny">Response</h4>
      <FactTable facts={responseFacts(attempt, simulated)} />
      <Json title="Raw data" value={withoutSecrets(attempt.raw)} />
    </>
  );
}

function CallDetail({ call }: { call: CallItem }) {
  return (
    <>
      <Json title="Input" value={call.argumentsRaw ?? call.arguments} />
      {call.status === "waiting" || call.status === "running" ? (
        <p className="text-dim text-small">No result yet.</p>
      ) : call.status === "handed" ? (
        <p className="text-dim text-small">
          Handed to the client, which executes it. The result is not part of this run.
        </p>
      ) : call.error === undefined ? (
        <Json title="Result" value={call.result} />
      ) : (
        <p className="text-small">
          {call.error} {call.code && <code className="font-mono text-dim text-tiny">{call.code}</code>}
        </p>
      )}
    </>
  );
}

/** The complete list is in the Events tab. */
const MOST = 50;

function RowEvents({ row: { subject }, record, events }: Props) {
  const [open, setOpen] = useState(false);
  const own = useMemo(() => eventsOf(subject, events, record?.attempts ?? []), [subject, events, record]);
  if (own.length === 0) return <p className="text-dim text-tiny">No events for this row.</p>;
  return (
    <div>
      <Button aria-expanded={open} onClick={() => setOpen(!open)} className="-ms-2 h-6 text-tiny">
        {open ? "Hide raw events" : `Show ${plural(own.length, "raw event")}`}
      </Button>
      {open && (
        <pre
          data-part="raw"
          className="wrap-anywhere whitespace-pre-wrap rounded-sm bg-sunken px-2 py-1.5 font-mono text-tiny"
        >
          {own
            .slice(0, MOST)
            .map((event) => `${event.seq} ${eventText(event)}`)
            .join("\n")}
          {own.length > MOST && `\n… ${count(own.length - MOST)} more are under Events.`}
        </pre>
      )}
    </div>
  );
}

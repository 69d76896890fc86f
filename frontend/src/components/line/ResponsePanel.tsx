// One answer with its line: warnings, the stops in order, what went wrong, and the honest end.
import { memo, useRef } from "react";
import type { Turn } from "../hooks/chat.ts";
import { useSeconds } from "../hooks/view.ts";
import { linkedSources } from "../run/links.ts";
import { type Stop, sourcesOf, stopsOf, warningsOf } from "../run/view.ts";
import type { ContentItem, Link, RunTrace } from "../types/models.ts";
import { EndLine } from "./EndLine.tsx";
import { ErrorBox } from "./ErrorBox.tsx";
import { Lamp } from "./Lamp.tsx";
import { Prose } from "./prose/Prose.tsx";
import { ReasoningBlock } from "./ReasoningBlock.tsx";
import { SearchResultsInline } from "./SearchResultsInline.tsx";
import { ToolChips } from "./ToolChips.tsx";
import { WarningBanner } from "./WarningBanner.tsx";

interface Props {
  turn: Turn;
  /** Only the last answer can be asked for again. */
  onRetry?: (() => void) | undefined;
}

export const ResponsePanel = memo(function ResponsePanel({ turn, onRetry }: Props) {
  const { trace } = turn;
  return (
    <article
      className="response"
      aria-label={`Answer of ${turn.model || trace.model || "a model"}`}
      aria-busy={!trace.end}
    >
      <WarningBanner warnings={warningsOf(trace)} />
      <ol className="line" data-ended={trace.end !== undefined}>
        {stopsOf(trace).map((stop) => (
          <StopView key={stop.id} stop={stop} trace={trace} since={turn.startedAt} />
        ))}
        {trace.end ? <EndLine trace={trace} end={trace.end} onRetry={onRetry} /> : <Connection turn={turn} />}
      </ol>
      {trace.end && <ErrorBox trace={trace} end={trace.end} onRetry={onRetry} />}
    </article>
  );
});

interface StopProps {
  stop: Stop;
  trace: RunTrace;
  since: number;
}

function StopView({ stop, trace, since }: StopProps) {
  switch (stop.kind) {
    case "reasoning":
      return <ReasoningBlock item={stop.item} />;
    case "search":
      return <SearchResultsInline stop={stop} />;
    case "tools":
      return <ToolChips stop={stop} />;
    case "answer":
      return <Answer item={stop.item} trace={trace} />;
    case "pending":
      return <Pending label={stop.label} since={since} />;
  }
}

/** Sources that are as they were keep their map, so that blocks of text which stand are not parsed again. */
function Answer({ item, trace }: { item: ContentItem; trace: RunTrace }) {
  const known = useRef<{ key: string; sources: ReadonlyMap<number, Link> }>({ key: "", sources: new Map() });
  const sources = sourcesOf(trace, item.id);
  const key = [...sources].map(([n, { url }]) => `${n} ${url}`).join("\n");
  if (known.current.key !== key) known.current = { key, sources };
  return <AnswerText item={item} sources={known.current.sources} />;
}

interface AnswerProps {
  item: ContentItem;
  sources: ReadonlyMap<number, Link>;
}

const AnswerText = memo(function AnswerText({ item, sources }: AnswerProps) {
  return (
    <li className="stop answer">
      {item.refusal && <p className="note">The model declines to answer.</p>}
      {item.synthetic && <p className="note">Signalbox says this in place of a missing answer.</p>}
      <Prose text={item.synthetic ? linkedSources(item.text) : item.text} sources={sources} />
    </li>
  );
});

function Pending({ label, since }: { label: string; since: number }) {
  const seconds = useSeconds(since, true);
  return (
    <li className="stop">
      <Lamp lamp="running" />
      <p className="stop-title">
        {label}
        {seconds >= 2 && <span className="dim"> · {seconds} s</span>}
      </p>
    </li>
  );
}

function Connection({ turn }: { turn: Turn }) {
  if (!turn.stopping && !turn.resuming) return null;
  return (
    <li className="stop">
      <Lamp lamp="waiting" />
      <p className="stop-title">{turn.stopping ? "Stopping" : "The connection dropped. Taking the answer up again"}</p>
    </li>
  );
}

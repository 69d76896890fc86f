// The steps and texts of an answer in order. User, settings and progress decide which panels are open.
import { Fragment, memo, useRef, useState } from "react";
import { useOpenPanels } from "../../hooks/openPanels.ts";
import type { PanelChoice } from "../../logic/answer/openPanels.ts";
import { callsIn, firstNotices, passagesOf } from "../../logic/answer/stepSummary.ts";
import { linkListsOf, type Stop, sourcesOf } from "../../logic/answer/stops.ts";
import { linkedSources, sourcesIn } from "../../logic/trace/sources.ts";
import type { Answer } from "../../state/answer/answer.ts";
import type { AnswerState } from "../../state/answer/answerState.ts";
import type { ContentItem, Link, RunTrace } from "../../types/models.ts";
import { Prose } from "../markdown/Prose.tsx";
import { ResultTables } from "../table/ResultTables.tsx";
import { AnswerImages } from "./AnswerImages.tsx";
import { FileStep } from "./FileStep.tsx";
import { ReasoningBlock } from "./ReasoningBlock.tsx";
import { SearchResultsInline, Sources } from "./SearchResultsInline.tsx";
import { Seconds } from "./Seconds.tsx";
import { StepRow } from "./StepHeader.tsx";
import { Steps } from "./Steps.tsx";
import { ToolChips } from "./ToolChips.tsx";
import { type TouchedPanels, useTouchedPanels } from "./touchedPanels.ts";

interface Props {
  answer: Answer;
  state: AnswerState;
  /** The trace of the whole answer, including the runs that it continues. */
  trace: RunTrace;
  stops: readonly Stop[];
  /** The user's setting for reasoning. */
  panels: PanelChoice;
}

export function Passages({ answer, state, trace, stops, panels }: Props) {
  const inUse = useOpenPanels(trace, stops, state.reasonedAt);
  const notices = firstNotices(stops);
  const [touched, touch] = useTouchedPanels(answer);
  const isOpen = (stop: Stop): boolean =>
    touched.get(stop.id) ??
    (stop.kind === "reasoning" && panels !== "automatic" ? panels === "open" : inUse.has(stop.id));
  const view = (stop: Stop) => (
    <StopView
      key={stop.id}
      stop={stop}
      notice={notices.get(stop.id)?.[0]}
      trace={trace}
      since={state.heardAt ?? answer.askedAt}
      open={isOpen(stop)}
      touched={touched.has(stop.id)}
      onToggle={touch}
    />
  );
  return passagesOf(stops, trace.end !== undefined).map((passage) =>
    passage.kind === "answer" ? (
      view(passage.stop)
    ) : (
      <Fragment key={passage.id}>
        <Steps
          {...passage}
          notices={passage.steps.flatMap(({ id }) => notices.get(id) ?? [])}
          open={isUnfolded(passage, touched, panels)}
          touched={touched.has(passage.id)}
          onToggle={touch}
        >
          {passage.steps.map(view)}
        </Steps>
        <ResultTables calls={callsIn(passage.steps)} />
      </Fragment>
    ),
  );
}

/** Follows the user's choice. Steps with a panel that the user opened or closed are not folded. */
const isUnfolded = (
  { id, steps }: { id: string; steps: readonly Stop[] },
  touched: TouchedPanels,
  panels: PanelChoice,
) => touched.get(id) ?? (panels === "open" || steps.some((step) => touched.has(step.id)));

interface StopProps {
  stop: Stop;
  notice: string | undefined;
  trace: RunTrace;
  since: number | undefined;
  open: boolean;
  touched: boolean;
  onToggle: (id: string, open: boolean) => void;
}

function StopView({ stop, notice, trace, since, ...panel }: StopProps) {
  switch (stop.kind) {
    case "reasoning":
      return <ReasoningBlock stop={stop} open={panel.open} onToggle={panel.onToggle} />;
    case "search":
      return <SearchResultsInline stop={stop} notice={notice} {...panel} />;
    case "tools":
      return <ToolChips stop={stop} {...panel} />;
    case "file":
      return <FileStep stop={stop} open={panel.open} onToggle={panel.onToggle} />;
    case "answer":
      return <AnswerStop item={stop.item} settled={stop.settled} trace={trace} />;
    case "pending":
      return <Pending label={stop.label} since={since} />;
  }
}

interface AnswerStopProps {
  item: ContentItem;
  settled: boolean;
  trace: RunTrace;
}

function AnswerStop({ item, settled, trace }: AnswerStopProps) {
  return <AnswerText item={item} settled={settled} sources={useSources(trace, item.id)} />;
}

/** Returns the same map until a call adds a link, so that finished blocks of text are not parsed again. */
function useSources(trace: RunTrace, before: string): ReadonlyMap<number, Link> {
  const lists = linkListsOf(trace, before);
  const known = useRef<{ lists: typeof lists; sources: ReadonlyMap<number, Link> }>(undefined);
  const isSame =
    known.current?.lists.length === lists.length && lists.every((list, at) => list === known.current?.lists[at]);
  if (!known.current || !isSame) known.current = { lists, sources: sourcesOf(trace, before) };
  return known.current.sources;
}

interface AnswerTextProps {
  item: ContentItem;
  settled: boolean;
  sources: ReadonlyMap<number, Link>;
}

const AnswerText = memo(function AnswerText({ item, settled, sources }: AnswerTextProps) {
  return (
    <li
      data-part="answer"
      className="relative flow-root min-w-0 pt-2 pb-6 ps-7 text-body before:absolute before:-top-0.5 before:-bottom-0.5 before:start-[5.25px] before:border-edge before:border-s-[1.5px] first:before:top-3"
    >
      {item.synthetic && <Note>Written by Signalbox because the model gave no answer.</Note>}
      {item.text && (
        <Prose text={item.synthetic ? linkedSources(item.text) : item.text} sources={sources} settled={settled} />
      )}
      {item.images && <AnswerImages images={item.images} />}
      {item.links && (
        <section aria-label="Sources" data-part="cited" className="pt-2 text-small">
          <Sources sources={sourcesIn(item.links)} />
        </section>
      )}
    </li>
  );
});

const Note = ({ children }: { children: string }) => <p className="mb-1.5 text-dim text-small">{children}</p>;

function Pending({ label, since }: { label: string; since: number | undefined }) {
  const [from] = useState(() => since ?? performance.now());
  return (
    <StepRow kind="pending" lamp="running">
      {label}
      <Seconds since={from} />
    </StepRow>
  );
}

// One answer with its line: warnings, the stops in order, what went wrong, and the honest end.
import { memo, useRef, useState } from "react";
import { useOffline } from "../../hooks/online.ts";
import { useOpenPanels } from "../../hooks/openPanels.ts";
import type { AnswerActions } from "../../run/answer/answerActions.ts";
import { nextSteps } from "../../run/answer/nextSteps.ts";
import type { PanelChoice } from "../../run/answer/openPanels.ts";
import { reachedLimit } from "../../run/answer/reachedLimit.ts";
import { firstNotices, passagesOf } from "../../run/answer/stepSummary.ts";
import { linkListsOf, type Stop, sourcesOf, stopsOf, warningsOf } from "../../run/answer/stops.ts";
import { canContinue } from "../../run/trace/canContinue.ts";
import { linkedSources, sourcesIn } from "../../run/trace/sources.ts";
import { connectionWords, continuationWords, isFailure } from "../../run/wording/statusAndAmounts.ts";
import type { Answer, AnswerState } from "../../state/chat/answer.ts";
import { chainOf, useWhole } from "../../state/chat/joinedAnswer.ts";
import { useStore } from "../../state/store.ts";
import type { ContentItem, Link, RunTrace } from "../../types/models.ts";
import { Prose } from "../markdown/Prose.tsx";
import { Drawings } from "./AnswerImages.tsx";
import { Runs } from "./ContinuationRuns.tsx";
import { EndLine, RunningLine } from "./EndLine.tsx";
import { ErrorBox } from "./failure/ErrorBox.tsx";
import { WarningBanner } from "./failure/WarningBanner.tsx";
import { ReasoningBlock } from "./ReasoningBlock.tsx";
import { SearchResultsInline, Sources } from "./SearchResultsInline.tsx";
import { Seconds } from "./Seconds.tsx";
import { SilenceRow } from "./SilenceRow.tsx";
import { StopRow } from "./StepHeader.tsx";
import { Steps } from "./Steps.tsx";
import { ToolChips } from "./ToolChips.tsx";
import { type Touched, useTouched } from "./touchedPanels.ts";

interface Props {
  answer: Answer;
  /** The reader's setting for reasoning. */
  panels: PanelChoice;
  actions: AnswerActions;
  /** A column of several: there is less room. */
  compact?: boolean;
}

export const ResponsePanel = memo(function ResponsePanel({ answer, panels, actions, compact = false }: Props) {
  const state = useStore(answer);
  const trace = useWhole(answer);
  const { end } = trace;
  const own = state.trace;
  const ownEnd = own.end ?? end;
  const goOn = actions.onContinue !== undefined && ownEnd !== undefined && canContinue(trace, ownEnd, own);
  const limit = ownEnd && reachedLimit(own, ownEnd, state.limits);
  const steps = ownEnd && isFailure(ownEnd) ? nextSteps(ownEnd, goOn) : undefined;
  const silentSince = end || state.stopping ? undefined : state.silentSince;
  const stops = wholeStops(stopsOf(trace, isAsked(answer)), answer).filter(
    ({ kind }) => kind !== "pending" || silentSince === undefined,
  );
  const inUse = useOpenPanels(trace, stops, state.reasonedAt);
  const notices = firstNotices(stops);
  const [touched, touch] = useTouched(answer);
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
      looked={touched.has(stop.id)}
      onToggle={touch}
    />
  );
  return (
    <article
      className="grid grid-cols-[minmax(0,1fr)] gap-3"
      aria-label={`Answer from ${trace.model || end?.model || "a model"}`}
      aria-busy={!end}
      data-part="response"
      data-run={trace.runId || undefined}
    >
      <WarningBanner warnings={warningsOf(trace)} />
      <ol className="text-small">
        {passagesOf(stops, end !== undefined).map((passage) =>
          passage.kind === "answer" ? (
            view(passage.stop)
          ) : (
            <Steps
              key={passage.id}
              {...passage}
              notices={passage.steps.flatMap(({ id }) => notices.get(id) ?? [])}
              open={isUnfolded(passage, touched, panels)}
              looked={touched.has(passage.id)}
              onToggle={touch}
            >
              {passage.steps.map(view)}
            </Steps>
          ),
        )}
        {silentSince !== undefined && <SilenceRow since={silentSince} actions={actions} />}
        <Connection state={state} isContinuation={answer.continues !== undefined} />
        {end ? (
          <EndLine
            trace={trace}
            end={end}
            actions={actions}
            goOn={goOn}
            fixes={steps?.fixes ?? []}
            limit={limit}
            compact={compact}
          />
        ) : (
          <>
            <Ahead />
            <RunningLine trace={trace} actions={actions} />
          </>
        )}
        {answer.continues && <Runs chain={chainOf(answer)} onInspect={({ runId }) => actions.onInspect(runId)} />}
      </ol>
      {state.known === "failed" && (
        <p className="ps-7 text-dim text-small">
          The steps of this answer are no longer on the server. Only its text is shown.
        </p>
      )}
      {ownEnd && steps && (
        <ErrorBox
          trace={trace}
          own={own}
          end={ownEnd}
          actions={actions}
          steps={steps}
          limit={limit}
          endedAt={state.heardAt}
        />
      )}
    </article>
  );
});

/** As the reader has set it; rows that were opened or closed by hand are not put away. */
const isUnfolded = ({ id, steps }: { id: string; steps: readonly Stop[] }, touched: Touched, panels: PanelChoice) =>
  touched.get(id) ?? (panels === "open" || steps.some((step) => touched.has(step.id)));

/** A continuation that has said nothing yet is waited for below the words that it goes on with. */
function wholeStops(stops: readonly Stop[], answer: Answer): readonly Stop[] {
  const { items, end } = answer.snapshot().trace;
  if (!answer.continues || end || items.some(({ kind }) => kind !== "warning")) return stops;
  return [...stops, ...stopsOf(answer.snapshot().trace, isAsked(answer))];
}

const isAsked = ({ effort }: Answer): boolean => effort !== "auto" && effort !== "none";

/** Where the run is going. */
const Ahead = () => (
  <li aria-hidden="true" className="ms-[5.25px] h-4 border-edge-strong border-s-[1.5px] border-dotted" />
);

interface StopProps {
  stop: Stop;
  notice: string | undefined;
  trace: RunTrace;
  since: number | undefined;
  open: boolean;
  looked: boolean;
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

/** As long as no call brings another link it is the same map, so that blocks of text which stand are not parsed again. */
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
      {item.images && <Drawings images={item.images} />}
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
    <StopRow kind="pending" lamp="running">
      {label}
      <Seconds since={from} />
    </StopRow>
  );
}

const NOT_STOPPED =
  "The answer could not be stopped because Signalbox is not responding. It may continue and cost money.";

function Connection({ state, isContinuation }: { state: AnswerState; isContinuation: boolean }) {
  const { trace, stopping, stopFailed, connection } = state;
  const offline = useOffline();
  const waits = isContinuation && connection === "waiting";
  const line = waits ? continuationWords(offline) : connectionWords(connection, offline);
  const words = stopping ? "Stopping" : stopFailed ? NOT_STOPPED : line;
  if (trace.end || !words) return null;
  return (
    <StopRow kind="connection" lamp="waiting">
      {words}
    </StopRow>
  );
}

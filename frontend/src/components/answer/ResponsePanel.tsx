// One answer: warnings, its stops in order, errors, and its last line.
import { memo } from "react";
import { useOffline } from "../../hooks/online.ts";
import type { AnswerActions } from "../../logic/answer/answerActions.ts";
import { nextSteps } from "../../logic/answer/nextSteps.ts";
import type { PanelChoice } from "../../logic/answer/openPanels.ts";
import { reachedLimit } from "../../logic/answer/reachedLimit.ts";
import { type Stop, stopsOf, warningsOf } from "../../logic/answer/stops.ts";
import { canContinue } from "../../logic/trace/canContinue.ts";
import { connectionText, continuationText, isFailure } from "../../logic/wording/statusAndAmounts.ts";
import type { Answer } from "../../state/answer/answer.ts";
import type { AnswerState } from "../../state/answer/answerState.ts";
import { runsOf, useJoinedTrace } from "../../state/answer/joinedAnswer.ts";
import { useStore } from "../../state/store.ts";
import { ContinuationRuns } from "./ContinuationRuns.tsx";
import { EndLine, RunningLine } from "./EndLine.tsx";
import { ErrorBox } from "./failure/ErrorBox.tsx";
import { WarningBanner } from "./failure/WarningBanner.tsx";
import { Passages } from "./Passages.tsx";
import { SilenceRow } from "./SilenceRow.tsx";
import { StepRow } from "./StepHeader.tsx";

interface Props {
  answer: Answer;
  /** The user's setting for reasoning. */
  panels: PanelChoice;
  actions: AnswerActions;
  /** In a column of a comparison, which has less space. */
  compact?: boolean;
}

export const ResponsePanel = memo(function ResponsePanel({ answer, panels, actions, compact = false }: Props) {
  const state = useStore(answer);
  const trace = useJoinedTrace(answer);
  const { end } = trace;
  const own = state.trace;
  const ownEnd = own.end ?? end;
  const goOn = actions.onContinue !== undefined && ownEnd !== undefined && canContinue(trace, ownEnd, own);
  const limit = ownEnd && reachedLimit(own, ownEnd, state.limits);
  const steps = ownEnd && isFailure(ownEnd) ? nextSteps(ownEnd, goOn) : undefined;
  const silentSince = end || state.stopping ? undefined : state.silentSince;
  const stops = stopsWithPending(stopsOf(trace, isReasoningRequested(answer)), answer).filter(
    ({ kind }) => kind !== "pending" || silentSince === undefined,
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
        <Passages answer={answer} state={state} trace={trace} stops={stops} panels={panels} />
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
        {answer.continues && (
          <ContinuationRuns chain={runsOf(answer)} onInspect={({ runId }) => actions.onInspect(runId)} />
        )}
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

/** A continuation without output shows its pending stop below the text that it continues. */
function stopsWithPending(stops: readonly Stop[], answer: Answer): readonly Stop[] {
  const { items, end } = answer.snapshot().trace;
  if (!answer.continues || end || items.some(({ kind }) => kind !== "warning")) return stops;
  return [...stops, ...stopsOf(answer.snapshot().trace, isReasoningRequested(answer))];
}

const isReasoningRequested = ({ effort }: Answer): boolean => effort !== "auto" && effort !== "none";

/** The dotted line below the current step. */
const Ahead = () => (
  <li aria-hidden="true" className="ms-[5.25px] h-4 border-edge-strong border-s-[1.5px] border-dotted" />
);

const NOT_STOPPED =
  "The answer could not be stopped because Signalbox is not responding. It may continue and cost money.";

function Connection({ state, isContinuation }: { state: AnswerState; isContinuation: boolean }) {
  const { trace, stopping, stopFailed, connection } = state;
  const offline = useOffline();
  const waits = isContinuation && connection === "waiting";
  const line = waits ? continuationText(offline) : connectionText(connection, offline);
  const words = stopping ? "Stopping" : stopFailed ? NOT_STOPPED : line;
  if (trace.end || !words) return null;
  return (
    <StepRow kind="connection" lamp="waiting">
      {words}
    </StepRow>
  );
}

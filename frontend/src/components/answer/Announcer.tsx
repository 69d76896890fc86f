// Announces the state of a run to screen readers when it changes, not for each token.
import { useEffect, useReducer, useState } from "react";
import { useOffline } from "../../hooks/online.ts";
import { stopsOf } from "../../logic/answer/stops.ts";
import { connectionText, endingOf } from "../../logic/wording/statusAndAmounts.ts";
import type { Answer } from "../../state/answer/answer.ts";
import type { AnswerState } from "../../state/answer/answerState.ts";
import { useStore } from "../../state/store.ts";

/** How often an unchanged state is announced again. */
const STILL_MS = 15_000;

export function Announcer({ answer }: { answer: Answer | undefined }) {
  return (
    <p className="sr-only" role="status" aria-live="polite">
      {answer && <Announcement key={answer.key} answer={answer} />}
    </p>
  );
}

function Announcement({ answer }: { answer: Answer }) {
  const state = useStore(answer);
  // An answer that had ended before it was shown is not announced.
  const [isNews] = useState(() => state.trace.end === undefined);
  const sentence = sentenceOf(state, useOffline());
  const still = useUnchangedSeconds(sentence, state.trace.end === undefined);
  if (!isNews) return "";
  // A sentence with details is not repeated.
  const isPlain = !sentence.includes(". ");
  return still > 0 && isPlain
    ? `Still ${sentence.charAt(0).toLowerCase()}${sentence.slice(1, -1)}, ${still} seconds.`
    : sentence;
}

/** How many seconds the sentence has been unchanged, in steps of `STILL_MS`. */
function useUnchangedSeconds(sentence: string, isRunning: boolean): number {
  const [{ of, steps }, step] = useReducer(
    (before: { of: string; steps: number }, now: string) => ({
      of: now,
      steps: before.of === now ? before.steps + 1 : 1,
    }),
    { of: sentence, steps: 0 },
  );
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => step(sentence), STILL_MS);
    return () => clearInterval(timer);
  }, [sentence, isRunning]);
  return of === sentence ? (steps * STILL_MS) / 1000 : 0;
}

function sentenceOf({ trace, stopping, connection, silentSince }: AnswerState, offline: boolean): string {
  const { end } = trace;
  if (end) return end.status === "complete" ? "The answer is complete." : `${endingOf(end).label}.`;
  if (stopping) return "Stopping.";
  if (connection === "resuming" || connection === "waiting") return connectionText(connection, offline);
  if (silentSince !== undefined) return "No output from the model.";
  const last = stopsOf(trace).at(-1);
  switch (last?.kind) {
    case "reasoning":
      return "Thinking.";
    case "search":
      return "Searching.";
    case "tools":
      return "Using tools.";
    case "file":
      return "Writing a file.";
    case "answer":
      return "Writing the answer.";
    case "pending":
      return `${last.label}.`;
    case undefined:
      return "Waiting for the model.";
  }
}

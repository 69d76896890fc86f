// The answer as a whole: the runs that continue each other, as one trace.
import { useCallback, useSyncExternalStore } from "react";
import { joinedTrace } from "../../logic/trace/joinedTrace.ts";
import type { RunTrace } from "../../types/models.ts";
import type { Entry } from "../chat/chatParts.ts";
import type { Answer } from "./answer.ts";

/** The runs of an answer in order: those that it continues, and itself. */
export const runsOf = (answer: Answer): readonly Answer[] =>
  answer.continues ? [...runsOf(answer.continues), answer] : [answer];

/** One of the runs of an answer. Default: the last. */
export const runOf = (answer: Answer, runId: string | undefined): Answer =>
  runsOf(answer).find((one) => one.runId === runId) ?? answer;

/** The shown answer that contains this run, or undefined. */
export function joinedAnswerOf(entries: readonly Entry[], answer: Answer): Answer | undefined {
  const all = entries.flatMap((entry) =>
    entry.kind === "answer" ? [entry.part, ...entry.beside, ...entry.alternatives] : [],
  );
  const whole = all.find((part) => part.kind === "answer" && runsOf(part.answer).includes(answer));
  return whole?.kind === "answer" ? whole.answer : undefined;
}

interface JoinedAnswer {
  traces: readonly RunTrace[];
  joined: RunTrace;
}

/** Cached: returns the same trace until one of the runs changes. */
const known = new WeakMap<Answer, JoinedAnswer>();

function joinedSnapshot(answer: Answer): RunTrace {
  const traces = runsOf(answer).map((one) => one.snapshot().trace);
  const before = known.get(answer);
  if (before?.traces.every((trace, at) => trace === traces[at])) return before.joined;
  const joined = joinedTrace(traces);
  known.set(answer, { traces, joined });
  return joined;
}

export function useJoinedTrace(answer: Answer): RunTrace {
  const subscribe = useCallback(
    (listener: () => void) => {
      const stops = runsOf(answer).map((one) => one.subscribe(listener));
      return () => {
        for (const stop of stops) stop();
      };
    },
    [answer],
  );
  return useSyncExternalStore(
    subscribe,
    useCallback(() => joinedSnapshot(answer), [answer]),
  );
}

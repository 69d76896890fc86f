// Builds a trace from a conversation's data, without events, and adds times and costs to traces.
import type { AnswerRun } from "../../types/api.ts";
import type { Loop, RunEnd, RunTrace } from "../../types/models.ts";

/** An answer in a conversation whose events are not loaded, or that was not made by a run. */
export interface StoredAnswer {
  text: string;
  run: AnswerRun | undefined;
}

export const isLoop = (text: string): text is Loop => text === "v2" || text === "legacy";

/** Add the times measured by the page, until the server reports its own. */
export const withPageTimes = (trace: RunTrace, ms: number): RunTrace =>
  trace.end?.duration_ms !== undefined
    ? trace
    : { ...trace, firstEventMs: trace.firstEventMs ?? ms, ...(trace.end && { totalMs: ms }) };

/** Replace an estimated cost by the final cost. */
export function withSettledCost(known: RunEnd | undefined, trace: RunTrace): RunTrace {
  if (!trace.end?.cost_estimated || known?.cost === undefined || known.cost_estimated) return trace;
  const { cost_estimated: _, ...end } = trace.end;
  return { ...trace, end: { ...end, cost: known.cost } };
}

/** The trace of an answer, from its text and its run's data in the conversation. */
export function storedTrace(trace: RunTrace, { text, run }: StoredAnswer): RunTrace {
  const end: RunEnd | undefined =
    run?.status === "running"
      ? undefined
      : {
          status: run?.status ?? "complete",
          ...(run?.code !== undefined && { code: run.code }),
          ...(run?.cost !== undefined && { cost: run.cost }),
          ...(run?.costEstimated && { cost_estimated: true }),
          ...(run?.provider !== undefined && { provider: run.provider }),
          ...(run?.simulated && { simulated: true }),
          ...(run && { steps: run.steps, requested_model: run.model }),
        };
  return {
    ...trace,
    ...(run && isLoop(run.loop) && { loop: run.loop }),
    ...(end && run?.ms !== undefined && { totalMs: run.ms }),
    ...(run?.firstTokenMs !== undefined && { firstEventMs: run.firstTokenMs }),
    items: text ? [{ kind: "content", id: "content-1", text, refusal: false, synthetic: false }] : [],
    ...(end && { end }),
  };
}

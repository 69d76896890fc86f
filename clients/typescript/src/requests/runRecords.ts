// Loads the record of a run, `GET /api/runs/{id}`, with times in milliseconds.

import type { Attempt, RunRecord } from "../types/api.ts";
import type { ApiClient } from "./client.ts";
import { ApiError } from "./errors.ts";
import { fields, type Json, list, number, parseFlag, readBody, text, time } from "./jsonFields.ts";

export async function fetchRun(client: ApiClient, runId: string, init?: RequestInit): Promise<RunRecord> {
  const body = await readBody(await client.request(`/api/runs/${encodeURIComponent(runId)}`, init));
  return { ...parseRecord(body), runId };
}

/** A run with everything that is stored about it except its events. */
export interface RunTrace extends RunRecord {
  /** One object per call: name, arguments, result, times. */
  tools: readonly Json[];
  warnings: readonly Json[];
  /** The number of events. */
  events: number;
}

export async function fetchTrace(client: ApiClient, runId: string): Promise<RunTrace> {
  const body = await readBody(await client.request(`/api/runs/${encodeURIComponent(runId)}`));
  const record = { ...parseRecord(body), runId };
  return {
    ...record,
    tools: list(body.tools).map(fields),
    warnings: list(body.warnings).map(fields),
    events: number(body.events) ?? 0,
  };
}

/** Throws if the server knows that the run does not exist. Other failures are ignored. */
export async function expectRun(client: ApiClient, runId: string): Promise<void> {
  const found = await fetchRun(client, runId).catch((error: unknown) => error);
  if (found instanceof ApiError && found.status === 404)
    throw new ApiError(404, "UNKNOWN_RUN", "This answer was not found. It may have been deleted.");
}

const textOrUndefined = (value: unknown): string | undefined => text(value) || undefined;

export function parseRecord(value: unknown): RunRecord {
  const run = fields(value);
  const attempts = list(run.attempts).map(parseAttempt);
  return {
    runId: text(run.run_id),
    status: text(run.status) || "running",
    code: textOrUndefined(run.code),
    model: text(run.model),
    loop: text(run.loop),
    protocol: text(run.protocol),
    flag: parseFlag(run.flag),
    startedAt: time(run.started) ?? 0,
    endedAt: time(run.ended),
    cost: number(run.cost),
    costEstimated: run.cost_estimated === true,
    simulated: run.simulated === true,
    settledAt: time(run.settled_at),
    conversationId: textOrUndefined(run.conversation_id),
    continues: fields(run.request).continue === true ? textOrUndefined(run.parent_id) : undefined,
    request: fields(run.request),
    attempts: attempts.filter(({ toolCall }) => toolCall === undefined),
    toolAttempts: attempts.filter(({ toolCall }) => toolCall !== undefined),
  };
}

function parseAttempt(value: unknown): Attempt {
  const attempt = fields(value);
  return {
    step: number(attempt.step) ?? 0,
    number: number(attempt.number) ?? 1,
    final: attempt.final === true,
    model: text(attempt.model),
    tools: list(attempt.tools).filter((name) => typeof name === "string"),
    startedAt: time(attempt.started) ?? 0,
    firstPartAt: time(attempt.first_part),
    endedAt: time(attempt.ended),
    servedModel: textOrUndefined(attempt.served_model),
    provider: textOrUndefined(attempt.provider),
    upstream: textOrUndefined(attempt.upstream),
    generationId: textOrUndefined(attempt.generation_id),
    finishReason: textOrUndefined(attempt.finish_reason),
    nativeFinishReason: textOrUndefined(attempt.native_finish_reason),
    usage: parseUsage(attempt.usage),
    error: textOrUndefined(attempt.error),
    code: textOrUndefined(attempt.code),
    streamed: attempt.streamed === true,
    cancelled: parseCancelled(attempt.cancelled),
    settled: attempt.settled === true,
    toolCall: textOrUndefined(attempt.tool_call),
    raw: attempt,
  };
}

function parseUsage(value: unknown): Attempt["usage"] {
  const usage = fields(value);
  const [input, output] = [number(usage.input), number(usage.output)];
  if (input === undefined && output === undefined) return undefined;
  return {
    input: input ?? 0,
    output: output ?? 0,
    reasoning: number(usage.reasoning) ?? 0,
    cached: number(usage.cached) ?? 0,
    cost: number(usage.cost),
  };
}

/** The server sends true, false or a text. */
function parseCancelled(value: unknown): string | undefined {
  if (typeof value !== "boolean") return textOrUndefined(value);
  return value ? "cut off by the provider" : "complete";
}

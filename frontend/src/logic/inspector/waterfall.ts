// The rows of the inspector's timeline, by the server's clock.
import type { Attempt, RawEvent, RunRecord } from "../../types/api.ts";
import type { CallItem, ReasoningItem, RunTrace } from "../../types/models.ts";
import { type Lamp, lampOf, wasSkipped } from "../answer/stops.ts";
import { type Subject, type TextPhase, textPhases, writingAttempt } from "./textPhases.ts";

export interface Row {
  id: string;
  label: string;
  /** Remarks after the label: hidden, cached, retry 2. */
  marks: readonly string[];
  /** The first string argument of a call. */
  hint: string;
  lamp: Lamp;
  step: number | undefined;
  /** The duration so far. Undefined if no time is known. */
  ms: number | undefined;
  /** The time to its first part, if known. */
  waitMs: number | undefined;
  running: boolean;
  /** In percent of the width. Undefined if the row has no time. `wait` is the first part of `width`. */
  bar: { x: number; width: number; wait: number } | undefined;
  subject: Subject;
}

export interface Tick {
  /** In percent of the width. */
  x: number;
  ms: number;
}

export interface Waterfall {
  rows: readonly Row[];
  ticks: readonly Tick[];
  /** Epoch milliseconds. Undefined if nothing has a time. */
  from: number | undefined;
  totalMs: number;
}

export interface WaterfallInput {
  trace: RunTrace | undefined;
  record: RunRecord | undefined;
  events: readonly RawEvent[];
  /** The server's time, as far as the page knows it. */
  now: number;
}

/**
 * Whether the run has ended. An end that the page assumed counts only if the server's record does not contradict it.
 */
export const hasEnded = (trace: RunTrace | undefined, record: RunRecord | undefined): boolean =>
  (record !== undefined && record.status !== "running") ||
  (trace?.end !== undefined && (!trace.end.local || record === undefined));

interface Span {
  startedAt: number | undefined;
  firstPartAt?: number | undefined;
  /** Undefined while it runs. */
  endedAt: number | undefined;
}

type Draft = Omit<Row, "bar" | "ms" | "waitMs"> & { span: Span };

export function waterfall(seen: WaterfallInput): Waterfall {
  const { trace, record, now } = seen;
  const isOver = hasEnded(trace, record);
  const drafts = draftsOf(seen, isOver);
  const times = drafts.flatMap(({ span }) => [span.startedAt, span.endedAt]).filter((at) => at !== undefined);
  const begun = record?.startedAt || undefined;
  if (begun !== undefined) times.push(begun);
  if (record?.endedAt !== undefined) times.push(record.endedAt);
  if (times.length === 0)
    return { rows: drafts.map((draft) => placed(draft, undefined, 0, now)), ticks: [], from: undefined, totalMs: 0 };
  const from = times.reduce((a, b) => Math.min(a, b));
  const last = times.reduce((a, b) => Math.max(a, b));
  const totalMs = Math.max((isOver ? last : Math.max(last, now)) - from, 1);
  return { rows: drafts.map((draft) => placed(draft, from, totalMs, now)), ticks: ticksOf(totalMs), from, totalMs };
}

function placed({ span, ...row }: Draft, from: number | undefined, totalMs: number, now: number): Row {
  const { startedAt, firstPartAt } = span;
  if (startedAt === undefined || from === undefined)
    return { ...row, ms: undefined, waitMs: undefined, bar: undefined };
  const endedAt = Math.max(startedAt, span.endedAt ?? now);
  const ms = endedAt - startedAt;
  const waitMs = firstPartAt === undefined ? undefined : Math.max(0, Math.min(firstPartAt - startedAt, ms));
  const share = (part: number) => (part / totalMs) * 100;
  // An attempt without a first part is drawn as waiting.
  const wait = row.subject.kind === "attempt" ? (waitMs ?? ms) : 0;
  return { ...row, ms, waitMs, bar: { x: share(startedAt - from), width: share(ms), wait: share(wait) } };
}

/** The rows by step: its attempts, each followed by what happened during it or its calls. */
function draftsOf(seen: WaterfallInput, isOver: boolean): Draft[] {
  const { trace, record } = seen;
  const attempts = [...(record?.attempts ?? [])].sort((a, b) => a.step - b.step || a.number - b.number);
  const drafts = attempts.map((attempt) => attemptDraft(attempt, attempts, isOver));
  for (const item of trace?.items ?? []) {
    if (item.kind === "reasoning") insert(drafts, reasoningDraft(item, attempts, isOver));
    if (item.kind === "call") insert(drafts, callDraft(item, isOver));
  }
  for (const [index, phase] of textPhases(seen.events, attempts, isOver).entries())
    insert(drafts, textDraft(phase, index, isOver));
  return drafts;
}

/** Insert a row after all rows of earlier steps, and within its step after rows that began before it. */
function insert(drafts: Draft[], draft: Draft): void {
  const step = draft.step ?? Infinity;
  const at = beginOf(draft) ?? Infinity;
  const index = drafts.findIndex((other) => {
    const otherStep = other.step ?? Infinity;
    return otherStep > step || (otherStep === step && (beginOf(other) ?? -Infinity) > at);
  });
  if (index < 0) drafts.push(draft);
  else drafts.splice(index, 0, draft);
}

/** Rows without a start time are placed just before their end. */
const beginOf = ({ span: { startedAt, endedAt } }: Draft): number | undefined =>
  startedAt ?? (endedAt === undefined ? undefined : endedAt - 1);

function attemptDraft(attempt: Attempt, all: readonly Attempt[], isOver: boolean): Draft {
  const running = attempt.endedAt === undefined && !isOver;
  const marks = [
    ...(attempt.number > 1 ? [`retry ${attempt.number - 1}`] : []),
    ...(attempt.final ? ["finalize"] : []),
    ...(attempt.code ? [attempt.code] : attempt.error ? ["failed"] : []),
    ...(attempt.endedAt !== undefined && !attempt.error && !attempt.finishReason ? ["stopped"] : []),
  ];
  const next = all.find(({ startedAt }) => startedAt > attempt.startedAt);
  return {
    id: `attempt-${attempt.step}-${attempt.number}`,
    label: `Step ${attempt.step}`,
    marks,
    hint: "",
    lamp: running ? "running" : attempt.error ? "failed" : attempt.finishReason ? "done" : "waiting",
    step: attempt.step,
    running,
    span: {
      startedAt: attempt.startedAt,
      firstPartAt: attempt.firstPartAt,
      // An attempt without an end ends at the latest when the next one begins.
      endedAt: attempt.endedAt ?? (running ? undefined : (next?.startedAt ?? attempt.firstPartAt ?? attempt.startedAt)),
    },
    subject: { kind: "attempt", attempt },
  };
}

function reasoningDraft(item: ReasoningItem, attempts: readonly Attempt[], isOver: boolean): Draft {
  const running = item.running && !isOver;
  const { startedAt, endedAt } = item;
  // The wait for the first part belongs to the attempt, so reasoning starts at the first part.
  const heard = writingAttempt(attempts, item.step, endedAt)?.firstPartAt;
  const begun = startedAt === undefined ? heard : Math.max(startedAt, heard ?? startedAt);
  return {
    id: item.id,
    label: "Reasoning",
    marks: item.hidden ? ["not shown by the provider"] : [],
    hint: "",
    lamp: running ? "running" : "done",
    step: item.step,
    running,
    span: { startedAt: begun, endedAt: running ? undefined : (endedAt ?? begun) },
    subject: { kind: "reasoning", item },
  };
}

const SKIPPED: Readonly<Record<string, string>> = { TOOL_CLAMP: "over limit", SUPERSEDED: "replaced" };

function callDraft(item: CallItem, isOver: boolean): Draft {
  const running = !isOver && (item.status === "waiting" || item.status === "running");
  const marks = [
    ...(item.visibility === "hidden" ? ["hidden"] : []),
    ...(item.cached ? ["cached"] : []),
    ...(wasSkipped(item) ? [SKIPPED[item.code ?? ""] ?? "skipped"] : []),
    ...(item.status === "failed" && !wasSkipped(item) ? [item.code ?? "failed"] : []),
    ...(item.status === "cancelled" ? ["cancelled"] : []),
    ...(item.status === "handed" ? ["handed to the client"] : []),
  ];
  // A call that was never executed has a time but no duration.
  const startedAt = item.startedAt ?? item.endedAt;
  return {
    id: `call-${item.id}`,
    label: item.name,
    marks,
    hint: Object.values(item.arguments).find((value) => typeof value === "string") ?? "",
    lamp: lampOf(item),
    step: item.step,
    running,
    span: { startedAt, endedAt: running ? undefined : (item.endedAt ?? startedAt) },
    subject: { kind: "call", item },
  };
}

function textDraft(phase: TextPhase, index: number, isOver: boolean): Draft {
  const running = phase.endedAt === undefined && !isOver;
  return {
    id: `text-${index + 1}`,
    label: "Answer",
    marks: phase.synthetic ? ["written by Signalbox"] : [],
    hint: "",
    lamp: running ? "running" : "done",
    step: phase.step,
    running,
    span: { startedAt: phase.startedAt, endedAt: phase.endedAt ?? (running ? undefined : phase.startedAt) },
    subject: { kind: "text", phase },
  };
}

const ROUND = [1, 2, 5] as const;
const MOST_TICKS = 4;

/** Ticks at round times, at most five. */
export function ticksOf(totalMs: number): Tick[] {
  let every = 1;
  for (let power = 1; totalMs / every > MOST_TICKS; power *= 10)
    every = ROUND.map((n) => n * power).find((ms) => totalMs / ms <= MOST_TICKS) ?? power * 10;
  const ticks: Tick[] = [];
  for (let ms = 0; ms <= totalMs; ms += every) ticks.push({ x: (ms / totalMs) * 100, ms });
  return ticks;
}

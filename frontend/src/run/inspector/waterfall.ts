// The line turned sideways: what a run did as rows over its time, by the server's clock.
import type { Attempt, RawEvent, RunRecord } from "../../types/api.ts";
import type { CallItem, ReasoningItem, RunTrace } from "../../types/models.ts";
import { type Lamp, lampOf, wasSkipped } from "../answer/stops.ts";
import { type Subject, speakerOf, type TextPhase, textPhases } from "./textPhases.ts";

export interface Row {
  id: string;
  label: string;
  /** Short words beside the label: hidden, cached, retry 2. */
  marks: readonly string[];
  /** What a call is about: its first words. */
  hint: string;
  lamp: Lamp;
  step: number | undefined;
  /** How long it took, or has taken; undefined where no time is known. */
  ms: number | undefined;
  /** How long until its first part came, where that is known apart. */
  waitMs: number | undefined;
  running: boolean;
  /** Of the whole width in percent; undefined: it has no place in time. `wait` is the first part of `width`. */
  bar: { x: number; width: number; wait: number } | undefined;
  subject: Subject;
}

export interface Tick {
  /** Percent of the width. */
  x: number;
  ms: number;
}

export interface Waterfall {
  rows: readonly Row[];
  ticks: readonly Tick[];
  /** Epoch milliseconds; undefined where nothing has a time. */
  from: number | undefined;
  totalMs: number;
}

export interface Seen {
  trace: RunTrace | undefined;
  record: RunRecord | undefined;
  events: readonly RawEvent[];
  /** The server's clock, as near as the page knows it. */
  now: number;
}

/** The page's own word that a run is over counts only as long as the server does not know better. */
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

export function waterfall(seen: Seen): Waterfall {
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
  // What still waits for its first part, or never got one, is all waiting.
  const wait = row.subject.kind === "attempt" ? (waitMs ?? ms) : 0;
  return { ...row, ms, waitMs, bar: { x: share(startedAt - from), width: share(ms), wait: share(wait) } };
}

/** By steps: its attempts, each followed by what came while it, or what it asked for, was under way. */
function draftsOf(seen: Seen, isOver: boolean): Draft[] {
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

/** Behind everything of an earlier step, and within its step behind what had begun before it. */
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

/** What has no start time stands just before its end. */
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
      // Cut off without a word, at the latest when the next one began.
      endedAt: attempt.endedAt ?? (running ? undefined : (next?.startedAt ?? attempt.firstPartAt ?? attempt.startedAt)),
    },
    subject: { kind: "attempt", attempt },
  };
}

function reasoningDraft(item: ReasoningItem, attempts: readonly Attempt[], isOver: boolean): Draft {
  const running = item.running && !isOver;
  const { startedAt, endedAt } = item;
  // The wait for the first part is the attempt's; the thinking that was heard begins with it.
  const heard = speakerOf(attempts, item.step, endedAt)?.firstPartAt;
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
  ];
  // A call that never ran has a moment, and no length.
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

/** Round times from 0, five of them at the most. */
export function ticksOf(totalMs: number): Tick[] {
  let every = 1;
  for (let power = 1; totalMs / every > MOST_TICKS; power *= 10)
    every = ROUND.map((n) => n * power).find((ms) => totalMs / ms <= MOST_TICKS) ?? power * 10;
  const ticks: Tick[] = [];
  for (let ms = 0; ms <= totalMs; ms += every) ticks.push({ x: (ms / totalMs) * 100, ms });
  return ticks;
}

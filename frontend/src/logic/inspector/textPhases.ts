// Derives when the answer's text was written, and which events belong to a row of the timeline. Text events have no
// time.
import type { Attempt, RawEvent } from "../../types/api.ts";
import type { CallItem, ReasoningItem } from "../../types/models.ts";

/** A piece of the answer between two events with a time. */
export interface TextPhase {
  step: number | undefined;
  startedAt: number | undefined;
  /** Undefined while it is being written. */
  endedAt: number | undefined;
  text: string;
  synthetic: boolean;
  /** The sequence numbers of its first and last event. */
  seqs: readonly [first: number, last: number];
}

export type Subject =
  | { kind: "attempt"; attempt: Attempt }
  | { kind: "reasoning"; item: ReasoningItem }
  | { kind: "call"; item: CallItem }
  | { kind: "text"; phase: TextPhase };

const numberOf = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);

/** An event before or after a piece of text. */
interface Sign {
  type: string;
  at: number | undefined;
  step: number | undefined;
}

interface Piece {
  words: string[];
  synthetic: boolean;
  seqs: [first: number, last: number];
  before: Sign | undefined;
  after: Sign | undefined;
  /** There was reasoning since the previous piece. */
  isNew: boolean;
}

/**
 * Derive the phases from the surrounding events: text lasts until the next event with a time. The times of the attempt
 * that wrote it are more exact.
 */
export function textPhases(events: readonly RawEvent[], attempts: readonly Attempt[], isOver: boolean): TextPhase[] {
  const phases: TextPhase[] = [];
  for (const piece of piecesOf(events)) {
    const { before, after, words, synthetic, seqs, isNew } = piece;
    const bare = { step: stepOf(before, after), startedAt: before?.at, endedAt: after?.at, synthetic, seqs };
    const phase = within({ ...bare, text: words.join("") }, attempts, isOver);
    const last = phases.at(-1);
    // Early results in the middle of an answer do not split it into two rows.
    const goesOn = last?.step !== undefined && last.step === phase.step && last.synthetic === synthetic && !isNew;
    if (!goesOn) phases.push(phase);
    else phases[phases.length - 1] = joined(last, phase);
  }
  return phases.filter(({ text }) => text.trim() !== "");
}

const joined = (first: TextPhase, { text, endedAt, seqs }: TextPhase): TextPhase => ({
  ...first,
  text: first.text + text,
  endedAt,
  seqs: [first.seqs[0], seqs[1]],
});

function piecesOf(events: readonly RawEvent[]): Piece[] {
  const pieces: Piece[] = [];
  let before: Sign | undefined;
  let open: Piece | undefined;
  let isNew = false;
  for (const { seq, event } of events) {
    if (event.type === "content") {
      const words = typeof event.content === "string" ? event.content : "";
      const synthetic = event.synthetic === true;
      if (open?.synthetic !== synthetic) {
        open = { words: [], synthetic, seqs: [seq, seq], before, after: undefined, isNew };
        pieces.push(open);
        isNew = false;
      }
      open.words.push(words);
      open.seqs[1] = seq;
    } else {
      const { type } = event;
      const sign = { type, at: numberOf(event.ts) ?? before?.at, step: numberOf(event.step) ?? before?.step };
      if (open) open.after = { ...sign, step: numberOf(event.step) };
      open = undefined;
      isNew ||= type === "reasoning";
      // A warning is about a step and does not end it.
      before = type === "warning" ? { ...sign, type: before?.type ?? type } : sign;
    }
  }
  return pieces;
}

/** Text after a result belongs to the next step, unless the result was early and its step continues. */
function stepOf(before: Sign | undefined, after: Sign | undefined): number | undefined {
  if (before?.step === undefined) return after?.step ?? 1;
  if (before.type !== "tool_result" || after?.step === before.step) return before.step;
  return before.step + 1;
}

/** The last attempt of a step that had sent its first part by then. */
export const writingAttempt = (
  attempts: readonly Attempt[],
  step: number | undefined,
  by = Infinity,
): Attempt | undefined =>
  // Event times are whole milliseconds.
  attempts.findLast((attempt) => attempt.step === step && (attempt.firstPartAt ?? Infinity) <= by + 1);

function within(phase: TextPhase, attempts: readonly Attempt[], isOver: boolean): TextPhase {
  const writer = writingAttempt(attempts, phase.step, phase.endedAt);
  if (writer?.firstPartAt === undefined) return phase;
  const startedAt = Math.max(phase.startedAt ?? writer.firstPartAt, writer.firstPartAt);
  const ends = [phase.endedAt, writer.endedAt].filter((at) => at !== undefined);
  if (ends.length === 0) return { ...phase, startedAt, endedAt: isOver ? startedAt : undefined };
  return { ...phase, startedAt, endedAt: Math.max(startedAt, Math.min(...ends)) };
}

/** The events that belong to a row, in order. */
export function eventsOf(
  subject: Subject,
  events: readonly RawEvent[],
  attempts: readonly Attempt[],
): readonly RawEvent[] {
  switch (subject.kind) {
    case "call":
      return events.filter(({ event }) => isOfCall(event, subject.item.id));
    case "text": {
      const [first, last] = subject.phase.seqs;
      return events.filter(({ seq, event }) => event.type === "content" && seq >= first && seq <= last);
    }
    case "reasoning":
      return events.filter(({ event }) => event.type === "reasoning" && isOfBlock(event, subject.item));
    case "attempt":
      return ofAttempt(subject.attempt, events, attempts);
  }
}

const isOfCall = (event: RawEvent["event"], id: string): boolean =>
  event.id === id ||
  (Array.isArray(event.calls) && event.calls.some((call: unknown) => (call as { id?: unknown } | null)?.id === id));

function isOfBlock(event: RawEvent["event"], { step, startedAt, endedAt }: ReasoningItem): boolean {
  const at = numberOf(event.ts);
  if (step !== undefined && event.step !== step) return false;
  return at === undefined || (at >= (startedAt ?? at) && at <= (endedAt ?? at));
}

/**
 * The events of an attempt, from its start to the start of the next attempt of the same step. Calls belong to the last
 * attempt.
 */
function ofAttempt(attempt: Attempt, events: readonly RawEvent[], attempts: readonly Attempt[]): readonly RawEvent[] {
  const same = attempts.filter(({ step }) => step === attempt.step);
  const next = same.find(({ number }) => number > attempt.number)?.startedAt ?? Infinity;
  const begun = attempt.number <= 1 ? -Infinity : attempt.startedAt;
  const phases = textPhases(events, attempts, true).filter(({ step }) => step === attempt.step);
  return events.filter(({ seq, event }) => {
    if (event.type === "content") {
      const phase = phases.find(({ seqs: [first, last] }) => seq >= first && seq <= last);
      return phase !== undefined && isBetween(phase.startedAt, begun, next);
    }
    return event.step === attempt.step && isBetween(numberOf(event.ts), begun, next);
  });
}

const isBetween = (at: number | undefined, from: number, to: number): boolean =>
  at === undefined || (at >= from && at < to);

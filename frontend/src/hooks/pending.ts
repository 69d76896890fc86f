// Questions of which nobody knows yet whether they came through: this tab keeps them until the server has named their run.
import type { Queued } from "../run/queue.ts";
import type { Picture } from "../types/api.ts";
import type { ChatBody } from "../types/models.ts";

export interface Pending {
  /** The Idempotency-Key: sent again under it, the question is asked once. */
  key: string;
  text: string;
  pictures: readonly Picture[];
  body: ChatBody;
  /** When it was asked, in epoch milliseconds. */
  asked: number;
}

const KEY = "signalbox.pending";
const VERSION = 2;

export type Box = Pick<Storage, "getItem" | "setItem" | "removeItem">;

export function pendingIn(box: Box, conversationId: string): readonly Pending[] {
  return read(box).filter(({ body }) => body.conversation_id === conversationId);
}

/** Where the box is full or closed, nothing is kept and the question is asked all the same. */
export function keepPending(box: Box, pending: Pending): void {
  write(box, [...read(box).filter(({ key }) => key !== pending.key), pending]);
}

export function dropPending(box: Box, key: string): void {
  const kept = read(box);
  if (kept.some((pending) => pending.key === key))
    write(
      box,
      kept.filter((pending) => pending.key !== key),
    );
}

function read(box: Box): readonly Pending[] {
  try {
    const { version, questions } = (JSON.parse(box.getItem(KEY) ?? "null") ?? {}) as Record<string, unknown>;
    return version === VERSION && Array.isArray(questions) ? questions.filter(isPending) : [];
  } catch {
    return [];
  }
}

function write(box: Box, questions: readonly Pending[]): void {
  try {
    if (questions.length === 0) box.removeItem(KEY);
    else box.setItem(KEY, JSON.stringify({ version: VERSION, questions }));
  } catch {
    return;
  }
}

function isPending(value: unknown): value is Pending {
  const { key, text, pictures, body, asked } = (value ?? {}) as Partial<Pending>;
  return (
    typeof key === "string" &&
    typeof text === "string" &&
    Array.isArray(pictures) &&
    typeof asked === "number" &&
    typeof body?.conversation_id === "string" &&
    typeof body.model === "string"
  );
}

const QUEUE = "signalbox.queue";

/** Messages that wait for an answer to end, by conversation. */
export function keepQueue(box: Box, conversationId: string, queue: readonly Queued[]): void {
  const { [conversationId]: _, ...others } = readQueues(box);
  const all = queue.length > 0 ? { ...others, [conversationId]: queue } : others;
  try {
    if (Object.keys(all).length === 0) box.removeItem(QUEUE);
    else box.setItem(QUEUE, JSON.stringify(all));
  } catch {
    return;
  }
}

export const queueIn = (box: Box, conversationId: string): readonly Queued[] => readQueues(box)[conversationId] ?? [];

function readQueues(box: Box): Record<string, readonly Queued[]> {
  try {
    const queues: unknown = JSON.parse(box.getItem(QUEUE) ?? "{}");
    const all = Object.entries(queues ?? {}).filter((entry): entry is [string, Queued[]] => Array.isArray(entry[1]));
    return Object.fromEntries(all.map(([id, queue]) => [id, queue.filter(isQueued)]));
  } catch {
    return {};
  }
}

function isQueued(value: unknown): value is Queued {
  const { id, text, pictures } = (value ?? {}) as Partial<Queued>;
  return typeof id === "string" && typeof text === "string" && Array.isArray(pictures);
}

// The queued messages of one conversation. The tab stores them, so that a reload keeps them.
import { ownKey } from "../../logic/baseUrl.ts";
import type { Queued } from "../../logic/chat/messageQueue.ts";
import { type Box, forget } from "./unconfirmedMessages.ts";

/** What a message waits for: the end of an answer (by key), the user, or nothing. */
export type WaitsFor = { answer: string } | "reader" | "nothing";

interface Waiter {
  message: Queued;
  waitsFor: WaitsFor;
  /** The message starts the conversation, which the server does not know yet. */
  begins: boolean;
}

/** The stored form. `due`: it waits for no answer, so it is sent after a reload. */
interface StoredMessage extends Queued {
  due?: boolean;
  begins?: boolean;
}

/** The progress of an answer. Only after a complete answer is the next message sent. */
export type AnswerProgress = "running" | "complete" | "ended";

const KEY = ownKey("signalbox.queue");

export class QueuedMessages {
  readonly #chatId: string;
  readonly #box: Box | undefined;
  #waiters: readonly Waiter[] = [];
  /** The message that the user wants to send next, even if the running answer is stopped. */
  #urgent: string | undefined;

  constructor(chatId: string, box: Box | undefined) {
    this.#chatId = chatId;
    this.#box = box;
  }

  get messages(): readonly Queued[] {
    return this.#waiters.map(({ message }) => message);
  }

  /** After a reload, messages that waited for an answer wait for the user. Messages that were due are still sent. */
  restore(): void {
    const before = this.#box ? queuesIn(this.#box)[this.#chatId] : undefined;
    this.#waiters = (before ?? []).map(({ due, begins = false, ...message }) => ({
      message,
      waitsFor: due ? "nothing" : "reader",
      begins,
    }));
  }

  /** One of the messages starts the conversation. */
  get begins(): boolean {
    return this.#waiters.some(({ begins }) => begins);
  }

  add(message: Queued, waitsFor: WaitsFor, begins: boolean): void {
    this.#store([...this.#waiters, { message, waitsFor, begins }]);
  }

  /** Put messages that cannot be sent any more at the front, to wait for the user. */
  putBack(messages: readonly Queued[]): void {
    const back = messages.map((message): Waiter => ({ message, waitsFor: "reader", begins: false }));
    this.#store([...back, ...this.#waiters]);
  }

  hurry(id: string): void {
    this.#urgent = id;
  }

  /** Remove and return a message. */
  take(id: string): Queued | undefined {
    const found = this.#waiters.find(({ message }) => message.id === id);
    if (found) this.#store(this.#waiters.filter((waiter) => waiter !== found));
    if (this.#urgent === id) this.#urgent = undefined;
    return found?.message;
  }

  /** The message whose turn it is, and the answer that it follows. */
  due(standingOf: (answer: string) => AnswerProgress): { message: Queued; after: string | undefined } | undefined {
    const isDue = ({ message, waitsFor }: Waiter): boolean => {
      if (waitsFor === "nothing") return true;
      const isUrgent = message.id === this.#urgent;
      if (waitsFor === "reader") return isUrgent;
      const standing = standingOf(waitsFor.answer);
      return standing === "complete" || (isUrgent && standing === "ended");
    };
    const urgent = this.#waiters.find((waiter) => waiter.message.id === this.#urgent && isDue(waiter));
    const found = urgent ?? this.#waiters.find(isDue);
    return found && { message: found.message, after: answerOf(found.waitsFor) };
  }

  /** Whether a message waits for the user. */
  isHeld(standingOf: (answer: string) => AnswerProgress): boolean {
    return this.#waiters.some(({ waitsFor }) => {
      const answer = answerOf(waitsFor);
      return waitsFor === "reader" || (answer !== undefined && standingOf(answer) === "ended");
    });
  }

  /** A message was sent: messages that waited for the previous answer, or for none, now wait for its answer. */
  moveOn(before: string | undefined, answer: string): void {
    if (this.#waiters.length === 0) return;
    const moved = this.#waiters.map((waiter) => {
      const waitsFor = answerOf(waiter.waitsFor);
      const { parent, again } = waiter.message;
      // An edited message or a regeneration has a fixed place.
      const moves = parent === undefined && again === undefined && (waitsFor === undefined || waitsFor === before);
      return moves ? { ...waiter, waitsFor: { answer } } : waiter;
    });
    this.#store(moved);
  }

  #store(waiters: readonly Waiter[]): void {
    this.#waiters = waiters;
    if (!this.#box) return;
    const stored = waiters.map(
      ({ message, waitsFor, begins }): StoredMessage => ({ ...message, due: waitsFor === "nothing", begins }),
    );
    storeQueue(this.#box, this.#chatId, stored);
  }
}

const answerOf = (waitsFor: WaitsFor): string | undefined =>
  typeof waitsFor === "object" ? waitsFor.answer : undefined;

function storeQueue(box: Box, conversationId: string, queue: readonly StoredMessage[]): void {
  const { [conversationId]: _, ...others } = queuesIn(box);
  const all = queue.length > 0 ? { ...others, [conversationId]: queue } : others;
  try {
    if (Object.keys(all).length === 0) box.removeItem(KEY);
    else box.setItem(KEY, JSON.stringify(all));
  } catch {
    // The storage is full. The previously stored value is outdated, so remove it.
    forget(box, KEY);
  }
}

function queuesIn(box: Box): Readonly<Record<string, readonly StoredMessage[]>> {
  try {
    const queues: unknown = JSON.parse(box.getItem(KEY) ?? "{}");
    const all = Object.entries(queues ?? {}).filter((entry): entry is [string, StoredMessage[]] =>
      Array.isArray(entry[1]),
    );
    return Object.fromEntries(all.map(([id, queue]) => [id, queue.filter(isQueued)]));
  } catch {
    return {};
  }
}

function isQueued(value: unknown): value is StoredMessage {
  const { id, text, pictures } = (value ?? {}) as Partial<Queued>;
  return typeof id === "string" && typeof text === "string" && Array.isArray(pictures);
}

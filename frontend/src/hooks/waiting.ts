// Messages that wait for the answer before them to end; this tab keeps them over a reload.
import type { Queued } from "../run/queue.ts";
import { type Box, keepQueue, queueIn } from "./pending.ts";

export class Waiting {
  readonly #chatId: string;
  readonly #box: Box | undefined;
  #messages: readonly Queued[] = [];
  /** The one that the reader wants asked before the others, whatever becomes of the answer under way. */
  #urgent: string | undefined;

  constructor(chatId: string, box: Box | undefined) {
    this.#chatId = chatId;
    this.#box = box;
  }

  get messages(): readonly Queued[] {
    return this.#messages;
  }

  get hasUrgent(): boolean {
    return this.#urgent !== undefined;
  }

  /** What waited before the page was loaded. */
  restore(): void {
    if (this.#box) this.#messages = queueIn(this.#box, this.#chatId);
  }

  add(message: Queued): void {
    this.#keep([...this.#messages, message]);
  }

  hurry(id: string): void {
    this.#urgent = id;
  }

  /** Take this one out. */
  take(id: string): Queued | undefined {
    const message = this.#messages.find((other) => other.id === id);
    if (message) this.#keep(this.#messages.filter((other) => other !== message));
    return message;
  }

  /** Take out what comes next. */
  next(): Queued | undefined {
    const message = this.#messages.find(({ id }) => id === this.#urgent) ?? this.#messages[0];
    this.#urgent = undefined;
    return message && this.take(message.id);
  }

  #keep(messages: readonly Queued[]): void {
    this.#messages = messages;
    if (this.#box) keepQueue(this.#box, this.#chatId, messages);
  }
}

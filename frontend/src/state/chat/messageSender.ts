// Sends the messages of one conversation in their turn: when the answer before is complete, and nothing holds them.
import type { Hold, Queued } from "../../run/chat/messageQueue.ts";
import type { Standing, Waiting } from "./queuedMessages.ts";
import type { Asking } from "./requestBody.ts";

export interface SendingDeps {
  asking: () => Asking | Promise<Asking>;
  /** Why nothing can be asked now. */
  hold?: () => Hold | undefined;
  /** Whether this tab sends the message: false where a tab with a copy of the queue has. */
  claim?: (messageId: string) => boolean;
}

/** What it needs of the conversation. */
export interface Sender {
  /** The conversation is there, or begins with what is sent. */
  isOpen(): boolean;
  /** The server does not have it any more. */
  isGone(): boolean;
  standingOf(answer: string): Standing;
  hasModel(asking: Asking): boolean;
  /** Ask behind this answer; resolves when what was asked is over. */
  ask(message: Queued, after: string | undefined, asking: Asking): Promise<void>;
  /** A message is held though the conversation is open: it has an address from now on, under which a reload finds it. */
  onHeld(): void;
  /** Another tab has sent it. */
  onClaimed(): Promise<void>;
  /** Show what waits. */
  onChange(shown: { queue: readonly Queued[]; held: boolean; hold: Hold | undefined }): void;
}

export class Sending {
  readonly #waiting: Waiting;
  readonly #deps: SendingDeps;
  readonly #sender: Sender;
  readonly #standingOf: (answer: string) => Standing;
  /** A message is on its way out of the queue. */
  #taking = false;

  constructor(waiting: Waiting, deps: SendingDeps, sender: Sender) {
    this.#waiting = waiting;
    this.#deps = deps;
    this.#sender = sender;
    this.#standingOf = (answer) => sender.standingOf(answer);
  }

  /** Ask what has its turn. Until the conversation is there, and it is known how to ask, everything waits. */
  async next(): Promise<void> {
    if (this.#taking || this.#sender.isGone() || !this.#sender.isOpen() || !this.#waiting.due(this.#standingOf))
      return this.show();
    if (this.#deps.hold?.()) {
      this.#sender.onHeld();
      return this.show();
    }
    this.#taking = true;
    let asking: Asking;
    try {
      asking = await this.#deps.asking();
    } finally {
      this.#taking = false;
    }
    const due = this.#waiting.due(this.#standingOf);
    if (!due || !this.#sender.hasModel(asking)) return this.show();
    this.#waiting.take(due.message.id);
    if (this.#deps.claim?.(due.message.id) === false) {
      this.show();
      await Promise.all([this.#sender.onClaimed(), this.next()]);
      return;
    }
    const over = this.#sender.ask(due.message, due.after, asking);
    await Promise.all([over, this.next()]);
  }

  /** Take it out of the queue. */
  drop(id: string): Queued | undefined {
    const message = this.#waiting.take(id);
    this.show();
    return message;
  }

  /** Take all of them out of the queue. */
  takeAll(): readonly Queued[] {
    const messages = this.#waiting.messages;
    for (const { id } of messages) this.#waiting.take(id);
    this.show();
    return messages;
  }

  show(): void {
    this.#sender.onChange({
      queue: this.#waiting.messages,
      held: this.#waiting.isHeld(this.#standingOf),
      hold: this.#hold(),
    });
  }

  #hold(): Hold | undefined {
    if (this.#sender.isGone()) return this.#waiting.messages.length > 0 ? "deleted" : undefined;
    return this.#waiting.due(this.#standingOf) && this.#deps.hold?.();
  }
}

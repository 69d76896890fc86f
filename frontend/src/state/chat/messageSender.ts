// Sends the queued messages of one conversation in order: each when the previous answer is complete and nothing blocks
// it.
import type { Hold, Queued } from "../../logic/chat/messageQueue.ts";
import type { AnswerProgress, QueuedMessages } from "./queuedMessages.ts";
import type { RequestSetup } from "./requestBody.ts";

export interface SenderDeps {
  asking: () => RequestSetup | Promise<RequestSetup>;
  /** Why nothing can be sent now. */
  hold?: () => Hold | undefined;
  /** Claims a message for this tab. False if another tab with a copy of the queue has sent it. */
  claim?: (messageId: string) => boolean;
}

/** The parts of the chat that the sender uses. */
export interface SenderChat {
  /** The conversation is loaded or new. */
  isOpen(): boolean;
  /** The conversation was deleted. */
  isGone(): boolean;
  standingOf(answer: string): AnswerProgress;
  hasModel(asking: RequestSetup): boolean;
  /** Send a message after this answer. Resolves when it is answered. */
  ask(message: Queued, after: string | undefined, asking: RequestSetup): Promise<void>;
  /** A message is held in an open conversation. The chat gets an address now, so that a reload finds it. */
  onHeld(): void;
  /** Another tab has sent the message. */
  onClaimed(): Promise<void>;
  /** Show the queue. */
  onChange(shown: { queue: readonly Queued[]; held: boolean; hold: Hold | undefined }): void;
}

export class MessageSender {
  readonly #waiting: QueuedMessages;
  readonly #deps: SenderDeps;
  readonly #sender: SenderChat;
  readonly #standingOf: (answer: string) => AnswerProgress;
  /** A message is being taken from the queue. */
  #taking = false;

  constructor(waiting: QueuedMessages, deps: SenderDeps, sender: SenderChat) {
    this.#waiting = waiting;
    this.#deps = deps;
    this.#sender = sender;
    this.#standingOf = (answer) => sender.standingOf(answer);
  }

  /** Send the message whose turn it is, if the conversation is loaded and the request settings are known. */
  async next(): Promise<void> {
    if (this.#taking || this.#sender.isGone() || !this.#sender.isOpen() || !this.#waiting.due(this.#standingOf))
      return this.show();
    if (this.#deps.hold?.()) {
      this.#sender.onHeld();
      return this.show();
    }
    this.#taking = true;
    let asking: RequestSetup;
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

  /** Remove a message from the queue. */
  drop(id: string): Queued | undefined {
    const message = this.#waiting.take(id);
    this.show();
    return message;
  }

  /** Remove all messages from the queue. */
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

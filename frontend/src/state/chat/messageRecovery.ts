// Recovers messages that the server had not confirmed before a reload: follows, stops, resends or returns them.
import type { ChatBody } from "../../types/models.ts";
import type { Branches } from "./branches.ts";
import type { AnswerPart, QuestionPart, Slot } from "./chatParts.ts";
import { isFresh, receivedMessage } from "./recoverMessage.ts";
import { type RequestSetup, setupOf, slotIn } from "./requestBody.ts";
import type { Keys } from "./requestSender.ts";
import type { UnconfirmedMessage, UnconfirmedMessages } from "./unconfirmedMessages.ts";

/** The parts of the chat that the recovery uses. */
export interface RecoveryChat {
  begin(question: QuestionPart, asking: RequestSetup, keys?: Keys, asked?: number): Promise<void>;
  continue(cut: AnswerPart, body: ChatBody, key: string): Promise<void>;
  giveBack(returned: Pick<UnconfirmedMessage, "text" | "pictures">): void;
}

export class MessageRecovery {
  readonly #branches: Branches;
  readonly #pending: UnconfirmedMessages;
  readonly #chat: RecoveryChat;

  constructor(branches: Branches, pending: UnconfirmedMessages, chat: RecoveryChat) {
    this.#branches = branches;
    this.#pending = pending;
    this.#chat = chat;
  }

  /** Recover all unconfirmed messages after a reload. */
  recover(): void {
    for (const pending of this.#pending.all()) {
      if (pending.continues) this.#recoverContinuation(pending);
      else this.#recoverMessage(pending);
    }
  }

  /** Stop runs that the user stopped before they had an id but that the server started anyway. */
  stopAgain(): void {
    for (const pending of this.#pending.all()) this.#stopAgain(pending);
  }

  /**
   * Recover a message with unknown outcome. If it arrived, its run is followed, or stopped if the user had stopped it.
   * If it may have arrived, it is sent again under the same key. Otherwise it returns to the message box.
   */
  #recoverMessage(pending: UnconfirmedMessage): void {
    this.#stopAgain(pending);
    const asks = pending.asks.filter(({ stopped }) => !stopped);
    if (asks.length === 0) {
      this.#pending.drop(pending.question);
      return;
    }
    const question = this.#questionOf(pending);
    const isDue = pending.fate === "asked" && isFresh(pending);
    if (!question && isDue) {
      void this.#askAgain({ ...pending, asks });
      return;
    }
    if (!question) {
      const { text, pictures } = pending;
      this.#chat.giveBack({ text, pictures });
    } else if (isDue) {
      const isMissing = (slot: Slot) => this.#branches.answersOf(question, slot).length === 0;
      const missing = asks.filter(({ body, unread }) => unread || isMissing(slotIn(body)));
      // The server may be about to start the run of an earlier, equal request: under the same key, it starts only one.
      const keys = missing.map(({ key, body }) => (body.messages === undefined ? key : undefined));
      if (missing.length > 0) void this.#chat.begin(question, setupOf({ ...pending, asks: missing }), keys);
    }
    this.#pending.drop(pending.question);
  }

  #stopAgain(pending: UnconfirmedMessage): void {
    const question = pending.continues ? undefined : this.#questionOf(pending);
    for (const { key, body, stopped } of pending.asks) {
      const answers = question && stopped ? this.#branches.answersOf(question, slotIn(body)) : [];
      const begun = answers.filter(({ answer }) => answer.runId);
      for (const { answer } of begun) void answer.stop();
      if (begun.length > 0) this.#pending.dropAsk(pending.question, key);
    }
  }

  /** A continuation without a run id is sent again under the same key, so that the server starts it only once. */
  #recoverContinuation(pending: UnconfirmedMessage): void {
    const [ask] = pending.asks;
    const answers = this.#branches.answers();
    const cut = answers.find(({ answer }) => answer.runId === pending.parentId);
    const continuations = answers.filter(({ answer }) => cut && answer.continues === cut.answer);
    if (ask?.stopped) for (const { answer } of continuations) void answer.stop();
    const isWanted = ask && !ask.stopped && pending.fate === "asked" && isFresh(pending);
    if (cut && isWanted && continuations.length === 0) void this.#chat.continue(cut, ask.body, ask.key);
    else this.#pending.drop(pending.question);
  }

  #askAgain(pending: UnconfirmedMessage): Promise<void> {
    const { question: key, parentId, text, pictures, asks, asked } = pending;
    const parent = parentId === null ? null : (this.#branches.named(parentId)?.key ?? null);
    const { system } = asks[0]?.body ?? {};
    const question: QuestionPart = { kind: "question", key, parent, id: undefined, text, pictures, files: [], system };
    return this.#chat.begin(question, setupOf(pending), undefined, asked);
  }

  #questionOf(pending: UnconfirmedMessage): QuestionPart | undefined {
    return receivedMessage(this.#branches.parts, pending, (part) => this.#branches.parentIdOf(part));
  }
}

// Sends messages: the first model gets the message, the others its id. Each request is sent once, even over a bad
// connection.

import { browserPage, LINE_DELAYS, newIdempotencyKey, sleep } from "@signalbox/client/requests";
import type { ChatBody } from "../../types/models.ts";
import { Answer } from "../answer/answer.ts";
import type { AnswerDeps } from "../answer/answerState.ts";
import { type AnswerPart, type QuestionPart, slotOf } from "./chatParts.ts";
import { type RequestSetup, requestBody } from "./requestBody.ts";
import type { UnconfirmedMessages } from "./unconfirmedMessages.ts";

/** The parts of the tree that the sender uses. */
export interface SenderTree {
  question(key: string): QuestionPart | undefined;
  /** The server's id of the part that a question follows. Null at the root. */
  parentIdOf(question: QuestionPart): string | null;
  /** Set the server's id of a question. */
  name(questionKey: string, id: string): void;
  /** Reload the conversation. False if the server did not respond. */
  look(): Promise<boolean>;
  /** The chat is no longer shown. */
  isLeft(): boolean;
}

/** An answer to request, and its Idempotency-Key. */
export interface Plan {
  part: AnswerPart;
  key: string;
  /** The index of its model in the setup. */
  at: number;
}

/** The Idempotency-Keys of the answers, as far as they are given. */
export type Keys = readonly (string | undefined)[];

/** The error of answers that were not requested because the server did not respond. */
const UNREACHABLE = { code: "SERVER_UNREACHABLE", error: "Signalbox is not responding." } as const;

export class RequestSender {
  readonly #conversationId: string;
  readonly #deps: AnswerDeps;
  readonly #pending: UnconfirmedMessages;
  readonly #tree: SenderTree;

  constructor(conversationId: string, deps: AnswerDeps, pending: UnconfirmedMessages, tree: SenderTree) {
    this.#conversationId = conversationId;
    this.#deps = deps;
    this.#pending = pending;
    this.#tree = tree;
  }

  /** One answer for each model of the setup. If the outcome of an earlier request is unknown, its key is used again. */
  plan(question: QuestionPart, asking: RequestSetup, keys: Keys = []): readonly Plan[] {
    return asking.models.map((model, at): Plan => {
      const { reasoning, column } = asking.fields(model, at);
      const effort = reasoning?.effort ?? "auto";
      const answer = Answer.asked(this.#deps, { model, effort });
      const earlier = this.#pending.keyOf(question.key, { model, column });
      const key = earlier ?? keys[at] ?? newIdempotencyKey();
      return { part: { kind: "answer", key: answer.key, parent: question.key, answer, column }, key, at };
    });
  }

  /** Resolves when all answers have ended. Answers that were stopped in the meantime are not requested. */
  async ask(question: QuestionPart, plans: readonly Plan[], asking: RequestSetup, asked = Date.now()): Promise<void> {
    const now = this.#tree.question(question.key) ?? question;
    const open = plans
      .filter(({ part }) => !part.answer.isOver)
      .map((plan) => ({ ...plan, body: this.#body(now, plan, asking) }));
    const [first, ...others] = open;
    if (!first) return;
    this.#store(now, open, asked);
    if (now.id !== undefined) {
      await Promise.all(open.map((plan) => this.#sendOne(now, plan, plan.body)));
      return;
    }
    let rest: Promise<void> | undefined;
    await this.#sendOne(now, first, first.body, () => {
      rest = this.ask(now, others, asking, asked);
    });
    await (rest ?? this.#sendOthers(now, first.part.answer, others, asking, asked));
  }

  async #sendOne(question: QuestionPart, { part, key }: Plan, body: ChatBody, onNamed?: () => void): Promise<void> {
    const { answer } = part;
    await answer.ask(body, key, ({ messageId }) => {
      this.#pending.started(question.key, key, messageId);
      this.#tree.name(question.key, messageId);
      onNamed?.();
    });
    if (answer.isUnauthorized) this.#pending.unauthorized(question.key, key);
    // A question without an id returns to the message box. For one that has an id, nothing is left to send.
    else if (question.id !== undefined && answer.isRefused) this.#pending.dropAsk(question.key, key);
  }

  /** The first model gave the question no id. Only if its request was rejected may another model send the message. */
  async #sendOthers(
    question: QuestionPart,
    first: Answer,
    others: readonly Plan[],
    asking: RequestSetup,
    asked: number,
  ): Promise<void> {
    const { end } = first.state.trace;
    if (end?.status === "cancelled") {
      await this.#sendOthersWhenReachable(question, others, asking, asked);
    } else if (first.isUnanswered || first.isUnauthorized) {
      for (const { part } of others) part.answer.giveUp(end);
    } else if (others.length > 0) {
      await this.ask(question, others, asking, asked);
    } else {
      this.#pending.refuse(question.key);
    }
  }

  /**
   * The first answer was stopped before it was known whether the message arrived. Look that up, then request the
   * others.
   */
  async #sendOthersWhenReachable(
    question: QuestionPart,
    others: readonly Plan[],
    asking: RequestSetup,
    asked: number,
  ): Promise<void> {
    const { lineDelays = LINE_DELAYS, page = browserPage } = this.#deps.stream ?? {};
    for (let attempt = 0; !this.#tree.isLeft(); attempt++) {
      const open = others.filter(({ part }) => !part.answer.isOver);
      if (open.length === 0) return;
      if (await this.#tree.look()) return this.ask(question, open, asking, asked);
      const delay = lineDelays[Math.min(attempt, lineDelays.length - 1)];
      for (const { part } of open) {
        if (delay === undefined) part.answer.giveUp({ status: "error", ...UNREACHABLE });
        else part.answer.wait();
      }
      if (delay !== undefined) await sleep(delay, new AbortController().signal, page);
    }
  }

  #store(question: QuestionPart, open: readonly (Plan & { body: ChatBody })[], asked: number): void {
    const { key, id, text, pictures } = question;
    this.#pending.store({
      question: key,
      conversationId: this.#conversationId,
      parentId: this.#tree.parentIdOf(question),
      messageId: id,
      text,
      pictures,
      asks: open.map((plan) => ({ key: plan.key, body: plan.body })),
      asked,
      fate: "asked",
    });
  }

  #body(question: QuestionPart, { part, at }: Plan, asking: RequestSetup): ChatBody {
    const target = {
      conversationId: this.#conversationId,
      ...slotOf(part),
      at,
      parentId: this.#tree.parentIdOf(question),
    };
    return requestBody(question, target, asking);
  }
}

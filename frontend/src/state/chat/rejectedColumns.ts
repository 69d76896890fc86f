// Columns of a comparison that the server rejected. The server has no run for them, so the tab stores them.
import { ownKey } from "../../logic/baseUrl.ts";
import { refused } from "../../logic/trace/reducer.ts";
import { Answer } from "../answer/answer.ts";
import type { AnswerDeps } from "../answer/answerState.ts";
import type { Branches } from "./branches.ts";
import { type AnswerPart, slotKey, slotOf } from "./chatParts.ts";
import { type Box, forget } from "./unconfirmedMessages.ts";

/** The stored form. */
interface RejectedColumn {
  conversationId: string;
  /** The server's id of the question. */
  messageId: string;
  model: string;
  column: number;
  code: string;
  error: string;
}

const KEY = ownKey("signalbox.refused");
const VERSION = 1;
/** The number of stored columns of all conversations. The oldest are dropped first. */
const MOST = 50;

export class RejectedColumns {
  readonly #box: Box | undefined;
  readonly #conversationId: string;

  constructor(box: Box | undefined, conversationId: string) {
    this.#box = box;
    this.#conversationId = conversationId;
  }

  /** Replace the stored columns of a question. A question without an id is not stored yet. */
  store(questionKey: string, branches: Branches): void {
    const messageId = branches.question(questionKey)?.id;
    if (messageId === undefined) return;
    const answers = branches.answers().filter(({ parent }) => parent === questionKey);
    const newest = new Map(answers.map((part) => [slotKey(slotOf(part)), part]));
    const now = [...newest.values()].flatMap((part) => this.#rejectedOf(part, messageId));
    const all = readAll(this.#box);
    const others = all.filter((one) => one.messageId !== messageId);
    if (now.length > 0 || others.length < all.length) writeAll(this.#box, [...others, ...now].slice(-MOST));
  }

  /** After a reload, add each column that has no answer since. */
  restore(branches: Branches, deps: AnswerDeps): void {
    for (const { conversationId, messageId, model, column, code, error } of readAll(this.#box)) {
      const question = conversationId === this.#conversationId ? branches.named(messageId) : undefined;
      if (question?.kind !== "question" || branches.answersOf(question, { model, column }).length > 0) continue;
      const end = { code, message: error };
      const answer = Answer.refused(deps, { model, effort: "auto" }, (trace) => refused(trace, end));
      branches.addColumn({ kind: "answer", key: answer.key, parent: question.key, answer, column });
    }
  }

  #rejectedOf({ answer, column }: AnswerPart, messageId: string): readonly RejectedColumn[] {
    if (column === undefined || !answer.isRefused || answer.isUnauthorized) return [];
    const { model, end } = answer.state.trace;
    const { code = "", error = "" } = end ?? {};
    return [{ conversationId: this.#conversationId, messageId, model, column, code, error }];
  }
}

function readAll(box: Box | undefined): readonly RejectedColumn[] {
  try {
    const { version, answers } = (JSON.parse(box?.getItem(KEY) ?? "null") ?? {}) as Record<string, unknown>;
    return version === VERSION && Array.isArray(answers) ? answers.filter(isRejectedColumn) : [];
  } catch {
    return [];
  }
}

function writeAll(box: Box | undefined, answers: readonly RejectedColumn[]): void {
  try {
    if (answers.length === 0) box?.removeItem(KEY);
    else box?.setItem(KEY, JSON.stringify({ version: VERSION, answers }));
  } catch {
    // The storage is full. The previously stored value is outdated, so remove it.
    forget(box, KEY);
  }
}

function isRejectedColumn(value: unknown): value is RejectedColumn {
  const { conversationId, messageId, model, column, code, error } = (value ?? {}) as Partial<RejectedColumn>;
  const texts = [conversationId, messageId, model, code, error];
  return texts.every((text) => typeof text === "string") && typeof column === "number";
}

// The questions and answers of a conversation as a tree: lookup, insertion, and the shown branch.

import { pathTo } from "../../logic/chat/branchTree.ts";
import { totalOf } from "../../logic/chat/chatCost.ts";
import type { Conversation } from "../../types/api.ts";
import type { AnswerDeps } from "../answer/answerState.ts";
import {
  type AnswerPart,
  type ChatPart,
  comparedIn,
  entriesOf,
  idOf,
  isSameSlot,
  merged,
  type QuestionPart,
  type Slot,
  slotOf,
} from "./chatParts.ts";
import type { ChatStore } from "./chatState.ts";
import type { AnswerProgress } from "./queuedMessages.ts";

export class Branches {
  readonly #store: ChatStore;
  /** Keys of questions whose answers are shown side by side. */
  readonly #besides = new Set<string>();
  /** Keys of questions whose answers the user wants to see one at a time. */
  readonly #alone = new Set<string>();

  constructor(store: ChatStore) {
    this.#store = store;
  }

  get parts(): ReadonlyMap<string, ChatPart> {
    return this.#store.read().parts;
  }

  // --- lookup ---------------------------------------------------------------------------------------------------

  question(key: string): QuestionPart | undefined {
    const part = this.parts.get(key);
    return part?.kind === "question" ? part : undefined;
  }

  answers(): readonly AnswerPart[] {
    return [...this.parts.values()].filter((part) => part.kind === "answer");
  }

  answersOf({ key }: QuestionPart, slot: Slot): readonly AnswerPart[] {
    return this.answers().filter((part) => part.parent === key && isSameSlot(slotOf(part), slot));
  }

  /** The last shown answers: one, or several side by side. */
  last(): readonly AnswerPart[] {
    const last = this.#store.read().entries.at(-1);
    if (last?.kind !== "answer") return [];
    return last.beside.length > 0 ? last.beside : [last.part];
  }

  /** A name for a part that is still valid after a reload. */
  nameOf(key: string): string {
    const part = this.parts.get(key);
    return (part && idOf(part)) ?? key;
  }

  named(name: string | null | undefined): ChatPart | undefined {
    return [...this.parts.values()].find((part) => part.key === name || (name && idOf(part) === name));
  }

  /** The server's id of the part that a question follows. Null at the root. */
  parentIdOf({ parent }: QuestionPart): string | null {
    const part = parent === null ? undefined : this.parts.get(parent);
    return (part && idOf(part)) ?? null;
  }

  /** The parent of the next question. Nothing can follow a rejected question: the next one takes its place. */
  nextParent(leaf: string | null): string | null {
    const path = pathTo(this.parts, leaf);
    const refusedAt = path.findIndex((part) => idOf(part) === undefined);
    const refused = path[refusedAt];
    const cut = refused?.kind === "answer" ? refused.answer.continues : undefined;
    if (cut) return this.answers().find(({ answer }) => answer === cut)?.key ?? null;
    return (refusedAt === -1 ? path.at(-1) : path[refusedAt - 1])?.key ?? null;
  }

  standingOf(key: string): AnswerProgress {
    const part = this.parts.get(key);
    const end = part?.kind === "answer" ? part.answer.state.trace.end : undefined;
    if (part?.kind === "answer" && !end) return "running";
    return end?.status === "complete" ? "complete" : "ended";
  }

  // --- insertion ------------------------------------------------------------------------------------------------

  /** Add a question and its answers. If the user has switched to another branch, that branch stays. */
  add(question: QuestionPart, answers: readonly [AnswerPart, ...AnswerPart[]]): void {
    const { parts, entries, leaf } = this.#store.read();
    if (answers.length > 1) this.#besides.add(question.key);
    const all = [...(parts.has(question.key) ? [] : [question]), ...answers];
    const isShown = entries.some(({ part }) => part.key === question.parent || part.parent === question.parent);
    this.#store.set({
      parts: new Map([...parts, ...all.map((part) => [part.key, part] as const)]),
      leaf: isShown || leaf === null ? answers[0].key : leaf,
      status: "ready",
      trouble: undefined,
    });
    this.derive();
  }

  /** Add a rejected column that the server does not have. It is inserted beside the other columns. */
  addColumn(part: AnswerPart): void {
    const { parts } = this.#store.read();
    const all = [...parts.values()].flatMap((one): ChatPart[] => (one.key === part.parent ? [one, part] : [one]));
    this.#store.set({ parts: new Map(all.map((one) => [one.key, one])) });
    this.#showColumns();
  }

  addContinuation(cut: AnswerPart, part: AnswerPart): void {
    const { parts, leaf } = this.#store.read();
    const next = leaf === cut.key || !leaf ? part.key : leaf;
    this.#store.set({ parts: new Map([...parts, [part.key, part]]), leaf: next, trouble: undefined });
    this.derive();
  }

  /** Set the server's id of a question. */
  name(key: string, id: string): void {
    const question = this.question(key);
    if (!question || !id) return;
    this.#store.set({ parts: new Map([...this.parts, [key, { ...question, id }]]) });
    this.#leaveRejected(key);
    this.derive();
  }

  /** No message can follow a rejected answer, so the branch continues with the first one that has a run. */
  #leaveRejected(questionKey: string): void {
    const answers = this.answers().filter(({ parent }) => parent === questionKey);
    const shown = answers.find(({ key }) => key === this.#store.read().leaf);
    const begun = answers.find(({ answer }) => answer.runId);
    if (shown?.answer.isRefused && begun) this.#store.set({ leaf: begun.key });
  }

  /** Merge the server's version of the conversation. */
  merge(conversation: Conversation, deps: AnswerDeps, chosen: string | undefined): void {
    const shown = merged(this.#store.read(), conversation, deps, chosen);
    this.#store.set({ title: conversation.title, status: "ready", ...shown });
    this.#showColumns();
    for (const { answer } of this.answers()) if (!answer.isOver && !answer.isLive) void answer.load();
    for (const node of conversation.nodes) {
      if (node.role !== "assistant" || node.run?.cost === undefined || node.run.costEstimated) continue;
      const { cost } = node.run;
      this.answers()
        .find(({ answer }) => answer.runId === node.id)
        ?.answer.settle(cost);
    }
  }

  #showColumns(): void {
    for (const question of comparedIn(this.parts)) if (!this.#alone.has(question)) this.#besides.add(question);
  }

  // --- display --------------------------------------------------------------------------------------------------

  /** Show the answers to a question side by side, or one at a time. */
  standBeside(questionKey: string, on: boolean): void {
    this.#alone.delete(questionKey);
    if (on) this.#besides.add(questionKey);
    else {
      this.#besides.delete(questionKey);
      this.#alone.add(questionKey);
    }
    this.derive();
  }

  /** Compute the shown rows from the parts. */
  derive(): void {
    const { parts, leaf } = this.#store.read();
    const entries = entriesOf(parts, leaf, this.#besides);
    const last = entries.at(-1);
    const ends = this.answers().map(({ answer }) => answer.state.trace.end);
    this.#store.set({
      entries,
      running: last?.kind === "answer" && [last.part, ...last.beside].some(({ answer }) => !answer.isOver),
      cost: totalOf(ends),
    });
  }
}

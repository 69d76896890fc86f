// One conversation: its questions and answers as a tree, what is shown of it, and what is asked in it.

import { fillVariables } from "../run/parameters.ts";
import type { Queued } from "../run/queue.ts";
import { refused } from "../run/reducer.ts";
import { newestLeaf, pathTo } from "../run/tree.ts";
import { chooseLeaf, fetchConversation } from "../stream/conversations.ts";
import { ApiError } from "../stream/errors.ts";
import { newKey } from "../stream/keys.ts";
import type { Conversation, Picture } from "../types/api.ts";
import type { ChatBody } from "../types/models.ts";
import { Answer, type AnswerDeps } from "./answer.ts";
import { type Asking, askedBefore, bodyOf } from "./asking.ts";
import { Loading } from "./loading.ts";
import {
  type AnswerPart,
  type ChatPart,
  type Entry,
  entriesOf,
  idOf,
  merged,
  type QuestionPart,
  systemAt,
} from "./parts.ts";
import { type Box, dropPending, keepPending, type Pending, pendingIn } from "./pending.ts";
import { Store } from "./store.ts";
import { Waiting } from "./waiting.ts";

export interface ChatState {
  title: string;
  /** `new`: nothing was asked yet. */
  status: "new" | "loading" | "ready" | "failed";
  /** Why it cannot be shown, or what could not be done; a sentence. */
  trouble: string | undefined;
  parts: ReadonlyMap<string, ChatPart>;
  leaf: string | null;
  /** What is shown. */
  entries: readonly Entry[];
  /** An answer at the end of what is shown is under way. */
  running: boolean;
  /** Instructions that the reader has set here for what is asked next; undefined: those that hold. */
  system: string | undefined;
  queue: readonly Queued[];
  /** The queue waits: the last answer failed or was stopped. */
  held: boolean;
  /** USD of all its answers, on all branches; undefined where none is known. */
  cost: number | undefined;
  costEstimated: boolean;
}

export interface ChatDeps extends AnswerDeps {
  asking: () => Asking | Promise<Asking>;
  /** Something that the list of conversations shows has changed. */
  onProgress?: (chat: Chat) => void;
  /** Where this tab keeps what nobody else knows yet. */
  box?: Box | undefined;
}

/** A question that nobody answered is asked again by itself only while whoever asked it may still be waiting. */
const ASKED_MS = 60_000;

const NOT_SENT = { code: "NOT_SENT", message: "This question did not reach the server." };

export class Chat extends Store<ChatState> {
  readonly id: string;
  readonly #deps: ChatDeps;
  readonly #loading = new Loading();
  /** Keys of the questions whose answers stand side by side. */
  readonly #besides = new Set<string>();
  /** What the reader has written here last, and as what it was sent: the time in it must not make it new each time. */
  #filled: { system: string; as: string } | undefined;
  readonly #waiting: Waiting;

  constructor(id: string, deps: ChatDeps) {
    super(
      {
        title: "",
        status: "new",
        trouble: undefined,
        parts: new Map(),
        leaf: null,
        entries: [],
        running: false,
        system: undefined,
        queue: [],
        held: false,
        cost: undefined,
        costEstimated: false,
      },
      deps.schedule,
    );
    this.id = id;
    this.#waiting = new Waiting(id, deps.box);
    this.#deps = { ...deps, onChange: (answer) => this.#changed(answer) };
  }

  /** Something is under way or waits, on whichever branch. */
  get isBusy(): boolean {
    return this.state.queue.length > 0 || this.#answers().some(({ answer }) => !answer.isOver);
  }

  /** The instructions for the next question; undefined in a new chat where none were set. */
  get system(): string | undefined {
    return this.state.system ?? systemAt(pathTo(this.state.parts, this.state.leaf));
  }

  setSystem(system: string): void {
    this.set({ system });
    this.flush();
  }

  // --- what there is --------------------------------------------------------------------------------------------

  /** Bring the conversation, and go on with what was under way. */
  async open(): Promise<void> {
    if (this.state.status === "loading") return;
    this.set({ status: "loading", trouble: undefined });
    this.flush();
    const { box } = this.#deps;
    const pending = box ? pendingIn(box, this.id) : [];
    try {
      this.#merge(await fetchConversation(this.#deps.client, this.id));
    } catch (error) {
      const isNew = error instanceof ApiError && error.status === 404 && pending.length > 0;
      if (!isNew) return this.#fail(error);
      this.set({ status: "ready" });
    }
    this.#waiting.restore();
    this.set({ queue: this.#waiting.messages, held: true });
    for (const question of pending) this.#again(question);
    this.#derive();
    this.flush();
  }

  /** Take in what was said elsewhere. */
  async refresh(): Promise<void> {
    if (this.state.status !== "ready") return;
    try {
      this.#merge(await fetchConversation(this.#deps.client, this.id));
      this.#derive();
    } catch {
      // What is shown stays; the next question will say what is wrong.
      return;
    }
  }

  /** An answer has come into view: bring the rest of it. Call the result when it has left again. */
  show(answer: Answer): () => void {
    return this.#loading.want(answer);
  }

  #merge(conversation: Conversation): void {
    const { parts, leaf } = merged(this.state.parts, this.state.leaf, conversation, this.#deps);
    this.set({ title: conversation.title, status: "ready", parts, leaf });
    for (const { answer } of this.#answers()) if (!answer.isOver && !answer.isLive) void answer.load();
  }

  #fail(error: unknown): void {
    if (error instanceof ApiError && error.status === 401) this.#deps.onUnauthorized?.();
    const gone = error instanceof ApiError && error.status === 404;
    const trouble = gone ? "This conversation is not there any more." : sentenceOf(error);
    this.set({ status: "failed", trouble });
    this.flush();
  }

  // --- asking ---------------------------------------------------------------------------------------------------

  /** Ask at the end of what is shown; while an answer is under way, wait for it. */
  async send(text: string, pictures: readonly Picture[] = []): Promise<void> {
    if (!text.trim() && pictures.length === 0) return;
    if (!this.state.running) return this.#ask(text.trim(), pictures, this.#parentOfNext());
    this.#waiting.add({ id: newKey(), text, pictures });
    this.#showQueue();
  }

  /** Ask a question in another version, beside the old one. */
  async edit(key: string, text: string): Promise<void> {
    const question = this.state.parts.get(key);
    if (question?.kind !== "question" || (!text.trim() && question.pictures.length === 0)) return;
    await this.#ask(text.trim(), question.pictures, question.parent);
  }

  /** Answer a question again, beside what there is, the same way as now set or by another model. */
  async again(key: string, model?: string): Promise<void> {
    const question = this.state.parts.get(key);
    if (question?.kind !== "question") return;
    const asking = await this.#deps.asking();
    const models = model === undefined ? asking.models.slice(0, 1) : [model];
    await this.#answer(question, { ...asking, models });
  }

  /** End what is shown and under way. */
  async stop(): Promise<void> {
    const last = this.state.entries.at(-1);
    if (last?.kind !== "answer") return;
    const answers = last.beside.length > 0 ? last.beside : [last.part];
    await Promise.all(answers.map(({ answer }) => answer.stop()));
  }

  /** Nobody looks at it any more: stop following, the runs go on. */
  leave(): void {
    for (const { answer } of this.#answers()) answer.leave();
  }

  /** As the reader has set them, with the date and the time of when they were first sent. */
  #instructions(): string | undefined {
    const { system } = this.state;
    if (system !== undefined && this.#filled?.system !== system)
      this.#filled = { system, as: fillVariables(system, new Date()) };
    return system === undefined ? undefined : this.#filled?.as;
  }

  async #ask(text: string, pictures: readonly Picture[], parent: string | null): Promise<void> {
    const asking = await this.#deps.asking();
    const held = systemAt(pathTo(this.state.parts, parent)) ?? "";
    const wanted = this.#instructions() ?? (this.state.parts.size === 0 ? asking.system : held);
    const system = wanted === held ? undefined : wanted;
    const key = `question-${newKey()}`;
    await this.#answer({ kind: "question", key, parent, id: undefined, text, pictures, files: [], system }, asking);
  }

  /** A question that the server has refused is none that anything could follow: the next one takes its place. */
  #parentOfNext(): string | null {
    const path = pathTo(this.state.parts, this.state.leaf);
    const refusedAt = path.findIndex((part) => idOf(part) === undefined);
    return (refusedAt === -1 ? path.at(-1) : path[refusedAt - 1])?.key ?? null;
  }

  /** The first model is asked with the question; the others are asked for theirs as soon as the server has named it. */
  async #answer(question: QuestionPart, asking: Asking, key = newKey(), asked = Date.now()): Promise<void> {
    const answers = asking.models.map((model): AnswerPart => {
      const effort = asking.fields(model).reasoning?.effort ?? "auto";
      const answer = Answer.asked(this.#deps, { model, effort });
      return { kind: "answer", key: answer.key, parent: question.key, answer };
    });
    const [first, ...others] = answers;
    if (!first) return;
    if (others.length > 0) this.#besides.add(question.key);
    const parts = new Map([
      ...this.state.parts,
      [question.key, question],
      ...answers.map((part) => [part.key, part] as const),
    ]);
    this.set({ parts, leaf: first.key, status: "ready", held: false, trouble: undefined });
    this.#derive();
    this.flush();
    await this.#askAll(question, answers, asking, { key, asked });
  }

  async #askAll(
    question: QuestionPart,
    answers: readonly AnswerPart[],
    asking: Asking,
    sent: { key: string; asked: number },
  ): Promise<void> {
    const now = this.#question(question.key) ?? question;
    if (now.id !== undefined) {
      await Promise.all(answers.map((part) => part.answer.ask(this.#body(now, part, asking), newKey())));
      return;
    }
    const [first, ...others] = answers;
    if (!first) return;
    const body = this.#body(now, first, asking);
    const { text, pictures } = now;
    const { box } = this.#deps;
    if (box) keepPending(box, { ...sent, text, pictures, body });
    let rest: Promise<void> | undefined;
    await first.answer.ask(body, sent.key, ({ messageId }) => {
      if (box) dropPending(box, sent.key);
      this.#name(now.key, messageId);
      rest = this.#askAll({ ...now, id: messageId }, others, asking, sent);
    });
    // Refused for this model: the question has no name yet, and the next model may bring it one.
    await (rest ?? this.#askAll(now, others, asking, { key: newKey(), asked: sent.asked }));
  }

  #body(question: QuestionPart, { answer }: AnswerPart, asking: Asking): ChatBody {
    const parent = question.parent === null ? undefined : this.state.parts.get(question.parent);
    const target = {
      conversationId: this.id,
      model: answer.state.trace.model,
      parentId: (parent && idOf(parent)) ?? null,
    };
    return bodyOf(question, target, asking);
  }

  /** The page went before its question was answered: under its key it is still one question, whether it came through. */
  #again(pending: Pending): void {
    const parent = [...this.state.parts.values()].find((part) => idOf(part) === pending.body.parent_id)?.key ?? null;
    const { question, asking } = askedBefore(pending, parent);
    if (Date.now() - pending.asked < ASKED_MS) {
      void this.#answer(question, asking, pending.key, pending.asked);
      return;
    }
    const { model, reasoning } = pending.body;
    const options = { model, effort: reasoning?.effort ?? "auto" } as const;
    const answer = Answer.refused(this.#deps, options, (trace) => refused(trace, NOT_SENT));
    const part: AnswerPart = { kind: "answer", key: answer.key, parent: question.key, answer };
    this.set({ parts: new Map([...this.state.parts, [question.key, question], [part.key, part]]), leaf: part.key });
  }

  // --- branches -------------------------------------------------------------------------------------------------

  /** Show the branch that leads through this part, and go on from there. */
  choose(key: string): void {
    if (!this.state.parts.has(key)) return;
    const leaf = newestLeaf(this.state.parts, key);
    this.set({ leaf });
    this.#derive();
    this.flush();
    const id = this.state.parts.get(leaf) && idOf(this.state.parts.get(leaf) as ChatPart);
    if (id === undefined) return;
    chooseLeaf(this.#deps.client, this.id, id).catch((error: unknown) =>
      this.set({ trouble: `The server did not take the choice of the branch: ${sentenceOf(error)}` }),
    );
  }

  /** Have the answers of a question stand side by side, or one at a time. */
  standBeside(questionKey: string, on: boolean): void {
    if (on) this.#besides.add(questionKey);
    else this.#besides.delete(questionKey);
    this.#derive();
    this.flush();
  }

  // --- the queue ------------------------------------------------------------------------------------------------

  /** Ask this one next: what is under way is stopped. */
  async sendQueued(id: string): Promise<void> {
    this.#waiting.hurry(id);
    if (this.state.running) await this.stop();
    else await this.#sendNext();
  }

  /** Take it out of the queue: to edit it, or to forget it. */
  dropQueued(id: string): Queued | undefined {
    const message = this.#waiting.take(id);
    this.#showQueue();
    return message;
  }

  async #sendNext(): Promise<void> {
    const next = this.#waiting.next();
    this.#showQueue();
    if (next) await this.send(next.text, next.pictures);
  }

  #showQueue(): void {
    this.set({ queue: this.#waiting.messages });
    this.flush();
  }

  // --- what follows from it -------------------------------------------------------------------------------------

  dismissTrouble(): void {
    this.set({ trouble: undefined });
  }

  #changed(answer: Answer): void {
    this.#derive();
    this.flush();
    this.#deps.onProgress?.(this);
    const last = this.state.entries.at(-1);
    const isLast = last?.kind === "answer" && [last.part, ...last.beside].some((part) => part.answer === answer);
    if (!isLast || !answer.isOver || this.state.running) return;
    if (answer.state.trace.end?.status === "complete" || this.#waiting.hasUrgent) void this.#sendNext();
    else if (this.state.queue.length > 0) this.set({ held: true });
  }

  #derive(): void {
    const { parts, leaf } = this.state;
    const entries = entriesOf(parts, leaf, this.#besides);
    const last = entries.at(-1);
    const ends = this.#answers().map(({ answer }) => answer.state.trace.end);
    const costs = ends.flatMap((end) => (end?.cost === undefined ? [] : [end.cost]));
    this.set({
      entries,
      running: last?.kind === "answer" && [last.part, ...last.beside].some(({ answer }) => !answer.isOver),
      cost: costs.length > 0 ? costs.reduce((sum, cost) => sum + cost, 0) : undefined,
      costEstimated: ends.some((end) => end?.cost_estimated === true),
    });
  }

  #name(key: string, id: string): void {
    const question = this.#question(key);
    if (!question || !id) return;
    this.set({ parts: new Map([...this.state.parts, [key, { ...question, id }]]) });
    this.#derive();
  }

  #question(key: string): QuestionPart | undefined {
    const part = this.state.parts.get(key);
    return part?.kind === "question" ? part : undefined;
  }

  #answers(): readonly AnswerPart[] {
    return [...this.state.parts.values()].filter((part) => part.kind === "answer");
  }
}

const sentenceOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

// One conversation: its questions and answers as a tree, what is shown of it, and what is asked in it.

import { newestLeaf, pathTo } from "../../run/chat/branchTree.ts";
import type { Queued } from "../../run/chat/messageQueue.ts";
import { chooseLeaf } from "../../stream/conversations.ts";
import { newKey } from "../../stream/idempotencyKeys.ts";
import type { Picture } from "../../types/api.ts";
import { Loading } from "../lists/answerLoading.ts";
import { Store } from "../store.ts";
import type { Answer, AnswerDeps } from "./answer.ts";
import { Branches } from "./branches.ts";
import { idOf, type QuestionPart, systemAt } from "./chatParts.ts";
import { type ChatState, type ChatStore, NEW_CHAT } from "./chatState.ts";
import { Continuing, pendingName } from "./continuation.ts";
import { Opening, sentenceOf } from "./conversationLoader.ts";
import { chainOf } from "./joinedAnswer.ts";
import { Recalling } from "./messageRecovery.ts";
import { Sending, type SendingDeps } from "./messageSender.ts";
import { Waiting } from "./queuedMessages.ts";
import { Refusals } from "./rejectedColumns.ts";
import { type Asking, askingAgain } from "./requestBody.ts";
import { Asker } from "./requestSender.ts";
import { Instructions } from "./systemPrompt.ts";
import { type Box, PendingQuestions } from "./unconfirmedMessages.ts";

/** `goOn` is called when what holds messages has changed. */
export interface ChatDeps extends AnswerDeps, SendingDeps {
  /** Something that the list of conversations shows has changed. */
  onProgress?: (chat: Chat) => void;
  /** Where this tab keeps what nobody else knows yet. */
  box?: Box | undefined;
}

/** The server asks for the bill of a stopped run; this is when it usually has it. */
const SETTLED_MS = [8000, 45_000] as const;

const GONE = new Set(["UNKNOWN_CONVERSATION", "UNKNOWN_MESSAGE"]);

export class Chat extends Store<ChatState> {
  readonly id: string;
  readonly #deps: ChatDeps;
  readonly #loading = new Loading();
  readonly #instructions = new Instructions();
  readonly #waiting: Waiting;
  readonly #pending: PendingQuestions;
  readonly #refusals: Refusals;
  readonly #asker: Asker;
  readonly #sending: Sending;
  readonly #store: ChatStore = {
    read: () => this.state,
    set: (change) => this.set(change),
    flush: () => this.flush(),
  };
  readonly #branches = new Branches(this.#store);
  readonly #opening: Opening;
  readonly #recalling: Recalling;
  readonly #continuing: Continuing;

  constructor(id: string, deps: ChatDeps) {
    super(NEW_CHAT, deps.schedule);
    this.id = id;
    this.#waiting = new Waiting(id, deps.box);
    this.#pending = new PendingQuestions(deps.box, id);
    this.#refusals = new Refusals(deps.box, id);
    this.#deps = { ...deps, onChange: (answer) => this.#changed(answer) };
    const shared = { store: this.#store, branches: this.#branches, pending: this.#pending, waiting: this.#waiting };
    this.#opening = new Opening({
      ...{ ...shared, id, deps: this.#deps },
      enter: () => this.#enter(),
      show: () => this.#sending.show(),
    });
    this.#continuing = new Continuing({ ...shared, id, deps: this.#deps });
    this.#recalling = new Recalling(this.#branches, this.#pending, {
      begin: (question, asking, asked) => this.#begin(question, asking, undefined, asked),
      continue: (cut, body, key) => this.#continuing.ask(cut, body, key),
      giveBack: (returned) => this.set({ returned }),
    });
    this.#asker = new Asker(id, this.#deps, this.#pending, {
      question: (key) => this.#branches.question(key),
      parentIdOf: (question) => this.#branches.parentIdOf(question),
      name: (key, messageId) => this.#branches.name(key, messageId),
      look: () => this.#look(),
      isLeft: () => this.#opening.isLeft,
    });
    this.#sending = new Sending(this.#waiting, this.#deps, {
      isOpen: () => this.state.status === "new" || this.state.status === "ready",
      isGone: () => this.#opening.isGone,
      standingOf: (key) => this.#branches.standingOf(key),
      hasModel: (asking) => this.#hasModel(asking),
      ask: (message, after, asking) => this.#askQueued(message, after, asking),
      onHeld: () => this.set({ status: "ready" }),
      onClaimed: () => this.refresh(),
      onChange: (shown) => {
        this.set(shown);
        this.flush();
      },
    });
  }

  /** Something is under way or waits, on whichever branch. */
  get isBusy(): boolean {
    return this.state.queue.length > 0 || this.#branches.answers().some(({ answer }) => !answer.isOver);
  }

  /** Nothing was asked yet; a conversation that is still being opened is not known to be empty. */
  get isEmpty(): boolean {
    return this.state.parts.size === 0 && (this.state.status === "new" || this.state.status === "ready");
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
  open(): Promise<void> {
    return this.#opening.open();
  }

  /** Go on with what was under way. */
  async #enter(): Promise<void> {
    // A question that is asked again joins the branch that is shown.
    this.#branches.derive();
    this.#refusals.restore(this.#branches, this.#deps);
    this.#recalling.recall();
    this.#branches.derive();
    this.flush();
    await this.#sending.next();
  }

  /** Take in what was said elsewhere. */
  async refresh(): Promise<void> {
    if (this.state.status === "ready") await this.#look();
  }

  /** False: the server did not answer. */
  async #look(): Promise<boolean> {
    if (!(await this.#opening.look())) return false;
    this.#recalling.stopAgain();
    this.#branches.derive();
    return true;
  }

  /** An answer has come into view: bring the rest of it. Call the result when it has left again. */
  show(answer: Answer): () => void {
    const stops = chainOf(answer).map((part) => this.#loading.want(part));
    return () => {
      for (const stop of stops) stop();
    };
  }

  /** Give away what was not sent: this question, or the one that was refused at the end, and what waits. */
  takeUnsent(key?: string): readonly Queued[] {
    const last = this.state.entries.findLast(({ kind }) => kind === "question")?.part;
    const question = key === undefined ? last : this.state.parts.get(key);
    const isUnsent = question?.kind === "question" && (key !== undefined || question.id === undefined);
    const { text, pictures } = isUnsent ? question : { text: "", pictures: [] };
    if (isUnsent) this.#pending.drop(question.key);
    return [...(isUnsent ? [{ id: newKey(), text, pictures }] : []), ...this.#sending.takeAll()];
  }

  /** What was given back is in the reader's hands. */
  takeReturned(): void {
    this.set({ returned: undefined });
  }

  // --- asking ---------------------------------------------------------------------------------------------------

  /** Ask at the end of what is shown, as soon as it has an end. Resolves when the answer is over, or it has to wait. */
  async send(text: string, pictures: readonly Picture[] = []): Promise<void> {
    if (!text.trim() && pictures.length === 0) return;
    const { leaf, running } = this.state;
    const waitsFor = running && leaf ? { answer: leaf } : "nothing";
    this.#waiting.add({ id: newKey(), text: text.trim(), pictures }, waitsFor, this.isEmpty);
    await this.#sending.next();
  }

  /** Ask a question in another version, beside the old one. */
  async edit(key: string, text: string): Promise<void> {
    const question = this.state.parts.get(key);
    if (question?.kind !== "question" || (!text.trim() && question.pictures.length === 0)) return;
    // What has not arrived yet is sent in its new words alone.
    for (const { parent, answer } of this.#branches.answers())
      if (parent === key && answer.state.connection === "waiting") void answer.stop();
    if (this.#pending.isUnauthorized(key)) this.#pending.drop(key);
    const message = { id: newKey(), text: text.trim(), pictures: question.pictures };
    const asking = await this.#askingNow();
    if (asking) await this.#ask(message, question.parent, asking);
    else await this.#queue({ ...message, parent: question.parent && this.#branches.nameOf(question.parent) });
  }

  /** Answer a question again, beside what there is, the same way as now set or by another model. */
  async again(key: string, model?: string): Promise<void> {
    const question = this.state.parts.get(key);
    if (question?.kind !== "question") return;
    // It is sent by itself once there is a token.
    if (this.#pending.isUnauthorized(key) && this.#deps.hold?.() === "token") return this.#deps.onUnauthorized?.();
    const asking = model === undefined ? await this.#askingNow() : await this.#deps.asking();
    if (asking) await this.#answerAgain(question, asking, model);
    else await this.#queue({ id: newKey(), text: question.text, pictures: [], again: this.#branches.nameOf(key) });
  }

  /** How to ask at once; undefined while that is not known. Without a connection the answer itself waits for it. */
  async #askingNow(): Promise<Asking | undefined> {
    const hold = this.#deps.hold?.();
    if (this.#opening.isGone || (hold && hold !== "offline")) return undefined;
    const asking = await this.#deps.asking();
    return asking.models[0] ? asking : undefined;
  }

  /** It has its place, and waits until it is known how to ask. */
  async #queue(message: Queued): Promise<void> {
    this.#waiting.add(message, "nothing", false);
    await this.#sending.next();
  }

  #askQueued(message: Queued, after: string | undefined, asking: Asking): Promise<void> {
    const { parent, again } = message;
    const question = this.#branches.named(again);
    if (question?.kind === "question") return this.#answerAgain(question, asking);
    const place = parent === null ? null : this.#branches.named(parent)?.key;
    return this.#ask(
      message,
      place === undefined ? this.#branches.parentOfNext(after ?? this.state.leaf) : place,
      asking,
    );
  }

  #answerAgain(question: QuestionPart, asking: Asking, model?: string): Promise<void> {
    return this.#begin(question, askingAgain(asking, this.state.parts, question.key, model));
  }

  /** Have an answer go on where it stopped: the same model, with what is set now. */
  continueAnswer(key: string): Promise<void> {
    return this.#continuing.continueAnswer(key, this.#deps.asking);
  }

  /** End what is shown and under way. */
  async stop(): Promise<void> {
    await Promise.all(this.#branches.last().map(({ answer }) => answer.stop()));
  }

  /** Nobody looks at it any more: stop following, the runs go on. */
  leave(): void {
    this.#opening.leave();
    for (const { answer } of this.#branches.answers()) answer.leave();
  }

  #ask({ id, text, pictures }: Queued, parent: string | null, asking: Asking): Promise<void> {
    const held = systemAt(pathTo(this.state.parts, parent)) ?? "";
    const wanted = this.#instructions.sent(this.state.system) ?? (this.state.parts.size === 0 ? asking.system : held);
    const system = wanted === held ? undefined : wanted;
    const key = `question-${id}`;
    return this.#begin({ kind: "question", key, parent, id: undefined, text, pictures, files: [], system }, asking, id);
  }

  /** Show the answers that are to come, and ask for them. Who looks at another branch goes on looking at it. */
  async #begin(question: QuestionPart, asking: Asking, firstKey?: string, asked = Date.now()): Promise<void> {
    const plans = this.#asker.plan(question, asking, firstKey);
    const [first] = plans;
    if (!first) return;
    this.#branches.add(question, [first.part, ...plans.slice(1).map(({ part }) => part)]);
    this.#waiting.moveOn(question.parent ?? undefined, first.part.key);
    this.#sending.show();
    await this.#asker.ask(question, plans, asking, asked);
  }

  // --- branches -------------------------------------------------------------------------------------------------

  /** Show the branch that leads through this part, and go on from there. */
  choose(key: string): void {
    if (!this.state.parts.has(key)) return;
    const leaf = newestLeaf(this.state.parts, key);
    this.set({ leaf });
    this.#branches.derive();
    this.flush();
    const part = this.state.parts.get(leaf);
    const id = part && idOf(part);
    if (id === undefined) return;
    chooseLeaf(this.#deps.client, this.id, id).catch((error: unknown) =>
      this.set({ trouble: `The version could not be switched on the server. ${sentenceOf(error)}` }),
    );
  }

  /** Have the answers of a question stand side by side, or one at a time. */
  standBeside(questionKey: string, on: boolean): void {
    this.#branches.standBeside(questionKey, on);
    this.flush();
  }

  // --- the queue ------------------------------------------------------------------------------------------------

  /** Ask this one next: what is under way is stopped. */
  async sendQueued(id: string): Promise<void> {
    this.#waiting.hurry(id);
    if (this.state.running) await this.stop();
    await this.#sending.next();
  }

  /** Take it out of the queue: to edit it, or to forget it. */
  dropQueued(id: string): Queued | undefined {
    return this.#sending.drop(id);
  }

  /** The connection is back, or it is known how to ask. */
  async goOn(): Promise<void> {
    await (this.#opening.isLost ? this.#opening.reopen() : this.#sending.next());
  }

  /** Where no model is known, the reader is told. */
  #hasModel({ models }: Asking): boolean {
    if (models[0]) return true;
    this.set({ trouble: "Choose a model, then try again." });
    this.flush();
    return false;
  }

  // --- what follows from it -------------------------------------------------------------------------------------

  dismissTrouble(): void {
    this.set({ trouble: undefined });
  }

  #changed(answer: Answer): void {
    const part = this.#branches.answers().find((other) => other.answer === answer);
    const pending = answer.continues ? pendingName(answer.continues) : part?.parent;
    if (pending && answer.state.connection === "waiting") this.#promise(pending);
    const isStopped = answer.state.stopping || answer.state.trace.end?.status === "cancelled";
    if (pending && !answer.runId && isStopped) this.#pending.stop(pending, answer.state.trace.model);
    if (part?.parent) this.#refusals.keep(part.parent, this.#branches);
    this.#branches.derive();
    this.flush();
    this.#deps.onProgress?.(this);
    if (!answer.isOver) return;
    if (GONE.has(answer.state.trace.end?.code ?? "")) void this.#opening.lookWhetherGone();
    // Another tab continues it: show that continuation.
    if (answer.continues && answer.state.trace.end?.code === "RUN_NOT_OVER") void this.refresh();
    // It was stopped before it had a name, and its connection is closed: the conversation knows what became of it.
    if (isStopped && !answer.runId && !answer.isLive) void this.refresh();
    if (answer.state.trace.end?.cost_estimated) for (const ms of SETTLED_MS) setTimeout(() => void this.refresh(), ms);
    void this.#sending.next();
  }

  /** The question is sent when the server can be reached, to every model that it is for. */
  #promise(question: string): void {
    this.#pending.promise(question);
    for (const { parent, answer } of this.#branches.answers()) if (parent === question) answer.waitToo();
  }
}

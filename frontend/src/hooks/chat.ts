// One conversation: its questions and answers as a tree, what is shown of it, and what is asked in it.
import type { Hold, Queued } from "../run/queue.ts";
import { type ChatCost, totalOf } from "../run/totals.ts";
import { newestLeaf, pathTo } from "../run/tree.ts";
import { fillVariables } from "../run/variables.ts";
import { chooseLeaf, fetchConversation } from "../stream/conversations.ts";
import { ApiError } from "../stream/errors.ts";
import { newKey } from "../stream/keys.ts";
import type { Conversation, Picture } from "../types/api.ts";
import type { ChatBody } from "../types/models.ts";
import type { Answer, AnswerDeps } from "./answer.ts";
import { Asker } from "./asker.ts";
import { type Asking, askingOf } from "./asking.ts";
import { continuation, continueBody, pendingContinuation, pendingName } from "./continuing.ts";
import { Loading } from "./loading.ts";
import {
  type AnswerPart,
  type ChatPart,
  columnOf,
  comparedIn,
  type Entry,
  entriesOf,
  idOf,
  merged,
  type QuestionPart,
  systemAt,
} from "./parts.ts";
import { type Box, type Pending, PendingQuestions } from "./pending.ts";
import { cameThrough, isFresh } from "./recall.ts";
import { Retry } from "./retry.ts";
import { Sending, type SendingDeps } from "./sending.ts";
import { Store } from "./store.ts";
import { type Standing, Waiting } from "./waiting.ts";
import { chainOf } from "./whole.ts";

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
  /** The queue waits for the reader: the answer before it failed or was stopped, or the page was loaded anew. */
  held: boolean;
  /** Why no message can be sent now. */
  hold: Hold | undefined;
  /** What the server would not have, given back to the reader. */
  returned: Pick<Queued, "text" | "pictures"> | undefined;
  /** Of all its answers, on all branches; undefined where none is known. */
  cost: ChatCost | undefined;
}

/** `goOn` is called when what holds messages has changed. */
export interface ChatDeps extends AnswerDeps, SendingDeps {
  /** Something that the list of conversations shows has changed. */
  onProgress?: (chat: Chat) => void;
  /** Where this tab keeps what nobody else knows yet. */
  box?: Box | undefined;
}

const SETTLED_MS = [8000, 45_000] as const;

/** Until a conversation is asked for again once opening it has failed several times. */
const OPEN_LATER_MS = 10_000;

const OUTAGES = new Set([0, 502, 503, 504]);

const GONE = new Set(["UNKNOWN_CONVERSATION", "UNKNOWN_MESSAGE"]);

export class Chat extends Store<ChatState> {
  readonly id: string;
  readonly #deps: ChatDeps;
  readonly #loading = new Loading();
  /** Keys of the questions whose answers stand side by side. */
  readonly #besides = new Set<string>();
  /** Keys of the questions whose answers the reader wants one at a time. */
  readonly #alone = new Set<string>();
  /** What the reader has written here last, and as what it was sent: the time in it must not make it new each time. */
  #filled: { system: string; as: string } | undefined;
  readonly #waiting: Waiting;
  readonly #pending: PendingQuestions;
  readonly #asker: Asker;
  readonly #sending: Sending;
  /** The conversation was deleted elsewhere: nothing more can be asked in it. */
  #isGone = false;
  /** The server did not answer when it was opened. */
  #isLost = false;
  /** Nobody looks at it any more. */
  #isLeft = false;
  #opening: Promise<void> | undefined;
  readonly #retry = new Retry(() => void this.#reopen(), OPEN_LATER_MS);

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
        hold: undefined,
        returned: undefined,
        cost: undefined,
      },
      deps.schedule,
    );
    this.id = id;
    this.#waiting = new Waiting(id, deps.box);
    this.#pending = new PendingQuestions(deps.box, id);
    this.#deps = { ...deps, onChange: (answer) => this.#changed(answer) };
    this.#asker = new Asker(id, this.#deps, this.#pending, {
      question: (key) => this.#question(key),
      parentIdOf: (question) => this.#parentIdOf(question),
      name: (key, messageId) => this.#name(key, messageId),
      look: () => this.#look(),
      isLeft: () => this.#isLeft,
    });
    this.#sending = new Sending(this.#waiting, this.#deps, {
      isOpen: () => this.state.status === "new" || this.state.status === "ready",
      isGone: () => this.#isGone,
      standingOf: (key) => this.#standingOf(key),
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
    return this.state.queue.length > 0 || this.#answers().some(({ answer }) => !answer.isOver);
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
  async open(): Promise<void> {
    if (this.state.status === "loading") return;
    this.set({ status: "loading", trouble: undefined });
    this.flush();
    await this.#reopen();
  }

  /** Try it again; what is shown stays until it succeeds. */
  #reopen(): Promise<void> {
    this.#opening ??= this.#fetch().then((isThere) => {
      this.#opening = undefined;
      return isThere ? this.#enter() : undefined;
    });
    return this.#opening;
  }

  async #fetch(): Promise<boolean> {
    if (this.state.queue.length === 0) this.#waiting.restore();
    try {
      this.#merge(await fetchConversation(this.#deps.client, this.id));
      this.set({ trouble: undefined });
    } catch (error) {
      const isBegun = this.#waiting.begins || this.#pending.all().some(({ parentId }) => parentId === null);
      const isNew = error instanceof ApiError && error.status === 404 && isBegun;
      if (!isNew) {
        this.#fail(error);
        return false;
      }
      this.set({ status: "ready", trouble: undefined });
    }
    return true;
  }

  /** Go on with what was under way. */
  async #enter(): Promise<void> {
    this.#isLost = false;
    this.#retry.stop();
    // A question that is asked again joins the branch that is shown.
    this.#derive();
    for (const pending of this.#pending.all()) this.#recall(pending);
    this.#derive();
    this.flush();
    await this.#sending.next();
  }

  /** Take in what was said elsewhere. */
  async refresh(): Promise<void> {
    if (this.state.status === "ready") await this.#look();
  }

  /** False: the server did not answer. Where it has nothing to tell, what is shown stays. */
  async #look(): Promise<boolean> {
    try {
      this.#merge(await fetchConversation(this.#deps.client, this.id));
    } catch (error) {
      return error instanceof ApiError && !isOutage(error);
    }
    for (const pending of this.#pending.all()) this.#stopAgain(pending);
    this.#derive();
    return true;
  }

  /** An answer has come into view: bring the rest of it. Call the result when it has left again. */
  show(answer: Answer): () => void {
    const stops = chainOf(answer).map((part) => this.#loading.want(part));
    return () => {
      for (const stop of stops) stop();
    };
  }

  #merge(conversation: Conversation): void {
    this.#isGone = false;
    const shown = merged(this.state, conversation, this.#deps);
    this.set({ title: conversation.title, status: "ready", ...shown });
    for (const question of comparedIn(shown.parts)) if (!this.#alone.has(question)) this.#besides.add(question);
    for (const { answer } of this.#answers()) if (!answer.isOver && !answer.isLive) void answer.load();
    for (const node of conversation.nodes) {
      if (node.role !== "assistant" || node.run?.cost === undefined || node.run.costEstimated) continue;
      const { cost } = node.run;
      this.#answers()
        .find(({ answer }) => answer.runId === node.id)
        ?.answer.settle(cost);
    }
  }

  #fail(error: unknown): void {
    if (error instanceof ApiError && error.status === 401) this.#deps.onUnauthorized?.();
    const gone = error instanceof ApiError && error.status === 404;
    if (gone) this.#gone();
    this.#isLost = isOutage(error);
    if (this.#isLost && !this.#isLeft) this.#retry.failed();
    else this.#retry.stop();
    const trouble = gone ? "This conversation was not found. It may have been deleted." : sentenceOf(error);
    this.set({ status: "failed", trouble });
    this.#sending.show();
  }

  /**
   * A question of which this page does not know whether it came through. One that did is followed, or stopped where the
   * reader had stopped it; one that may have is asked again under its key; others go back to the reader.
   */
  #recall(pending: Pending): void {
    if (pending.continues) {
      this.#recallContinuation(pending);
      return;
    }
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
      this.set({ returned: { text, pictures } });
    } else if (isDue) {
      const missing = asks.filter(({ body, unread }) => unread || this.#answersOf(question, body.model).length === 0);
      if (missing.length > 0) void this.#begin(question, askingOf({ ...pending, asks: missing }));
    }
    this.#pending.drop(pending.question);
  }

  /** What the reader had stopped before it had a name, and the server has begun all the same, is stopped. */
  #stopAgain(pending: Pending): void {
    const question = pending.continues ? undefined : this.#questionOf(pending);
    for (const { key, body, stopped } of pending.asks) {
      const answers = question && stopped ? this.#answersOf(question, body.model) : [];
      const begun = answers.filter(({ answer }) => answer.runId);
      for (const { answer } of begun) void answer.stop();
      if (begun.length > 0) this.#pending.dropAsk(pending.question, key);
    }
  }

  #questionOf(pending: Pending): QuestionPart | undefined {
    return cameThrough(this.state.parts, pending, (part) => this.#parentIdOf(part));
  }

  #answersOf({ key }: QuestionPart, model: string): readonly AnswerPart[] {
    return this.#answers().filter(({ parent, answer }) => parent === key && answer.state.trace.model === model);
  }

  /** One that the server has not named is asked for again under its key: a run that it has started already takes it. */
  #recallContinuation(pending: Pending): void {
    const [ask] = pending.asks;
    const cut = this.#answers().find(({ answer }) => answer.runId === pending.parentId);
    const continuations = this.#answers().filter(({ answer }) => cut && answer.continues === cut.answer);
    if (ask?.stopped) for (const { answer } of continuations) void answer.stop();
    const isWanted = ask && !ask.stopped && pending.fate === "asked" && isFresh(pending);
    if (cut && isWanted && continuations.length === 0) void this.#continue(cut, ask.body, ask.key);
    else this.#pending.drop(pending.question);
  }

  #askAgain(pending: Pending): Promise<void> {
    const { question: key, parentId, text, pictures, asks, asked } = pending;
    const parent = [...this.state.parts.values()].find((part) => idOf(part) === parentId)?.key ?? null;
    const { system } = asks[0]?.body ?? {};
    const question: QuestionPart = { kind: "question", key, parent, id: undefined, text, pictures, files: [], system };
    return this.#begin(question, askingOf(pending), undefined, asked);
  }

  /** What follows what the server does not have cannot be asked here. */
  #gone(): void {
    this.#isGone = true;
    const unsent = this.#pending.all().filter(({ messageId, continues }) => messageId === undefined && !continues);
    const wanted = unsent.filter(({ asks }) => !asks.every(({ stopped }) => stopped));
    for (const { question } of this.#pending.all()) this.#pending.drop(question);
    // What is shown as refused is taken along with it.
    const unseen = wanted.filter(({ question }) => !this.#question(question));
    this.#waiting.putBack(unseen.map(({ text, pictures }) => ({ id: newKey(), text, pictures })));
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
    for (const { parent, answer } of this.#answers())
      if (parent === key && answer.state.connection === "waiting") void answer.stop();
    if (this.#pending.isUnauthorized(key)) this.#pending.drop(key);
    const message = { id: newKey(), text: text.trim(), pictures: question.pictures };
    const asking = await this.#askingNow();
    if (asking) await this.#ask(message, question.parent, asking);
    else await this.#queue({ ...message, parent: question.parent && this.#nameOf(question.parent) });
  }

  /** Answer a question again, beside what there is, the same way as now set or by another model. */
  async again(key: string, model?: string): Promise<void> {
    const question = this.state.parts.get(key);
    if (question?.kind !== "question") return;
    // It is sent by itself once there is a token.
    if (this.#pending.isUnauthorized(key) && this.#deps.hold?.() === "token") return this.#deps.onUnauthorized?.();
    const asking = model === undefined ? await this.#askingNow() : await this.#deps.asking();
    if (asking) await this.#answerAgain(question, asking, model);
    else await this.#queue({ id: newKey(), text: question.text, pictures: [], again: this.#nameOf(key) });
  }

  /** How to ask at once; undefined while that is not known. Without a connection the answer itself waits for it. */
  async #askingNow(): Promise<Asking | undefined> {
    const hold = this.#deps.hold?.();
    if (this.#isGone || (hold && hold !== "offline")) return undefined;
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
    const question = this.#named(again);
    if (question?.kind === "question") return this.#answerAgain(question, asking);
    const place = parent === null ? null : this.#named(parent)?.key;
    return this.#ask(message, place === undefined ? this.#parentOfNext(after ?? this.state.leaf) : place, asking);
  }

  /** By which a part is found after a reload as well. */
  #nameOf(key: string): string {
    const part = this.state.parts.get(key);
    return (part && idOf(part)) ?? key;
  }

  #named(name: string | null | undefined): ChatPart | undefined {
    return [...this.state.parts.values()].find((part) => part.key === name || (name && idOf(part) === name));
  }

  async #answerAgain(question: QuestionPart, asking: Asking, model?: string): Promise<void> {
    const { key } = question;
    const fields = (id: string) => {
      const { column: _, ...others } = asking.fields(id);
      const column = columnOf(this.state.parts, key, id);
      return column === undefined ? others : { ...others, column };
    };
    await this.#begin(question, {
      ...asking,
      fields,
      models: model === undefined ? asking.models.slice(0, 1) : [model],
    });
  }

  /** Have an answer go on where it stopped: the same model, with what is set now. */
  async continueAnswer(key: string): Promise<void> {
    const cut = this.state.parts.get(key);
    if (cut?.kind !== "answer" || !cut.answer.isOver || !cut.answer.runId) return;
    const asking = await this.#deps.asking();
    const name = pendingName(cut.answer);
    const kept = this.#pending.all().find(({ question, fate }) => question === name && fate === "asked")?.asks[0];
    const { body, key: idempotency } = (kept?.stopped ? undefined : kept) ?? {
      body: continueBody(this.id, cut, asking),
      key: newKey(),
    };
    await this.#continue(cut, body, idempotency);
  }

  async #continue(cut: AnswerPart, body: ChatBody, key: string): Promise<void> {
    const part = continuation(cut, this.#deps);
    const name = pendingName(cut.answer);
    const leaf = this.state.leaf === cut.key || !this.state.leaf ? part.key : this.state.leaf;
    this.#waiting.moveOn(cut.key, part.key);
    this.set({ parts: new Map([...this.state.parts, [part.key, part]]), leaf, trouble: undefined });
    this.#derive();
    this.flush();
    this.#pending.keep(pendingContinuation(body, cut.answer, key));
    await part.answer.ask(body, key, () => this.#pending.drop(name));
    if (part.answer.isUnauthorized) return this.#pending.unauthorized(name, key);
    // Refused for good, or stopped before it left: a reload has nothing to ask for again.
    const isSettled = !part.answer.isUnanswered && part.answer.state.trace.end?.status !== "cancelled";
    if (isSettled) this.#pending.drop(name);
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
    this.#isLeft = true;
    this.#retry.stop();
    for (const { answer } of this.#answers()) answer.leave();
  }

  /** As the reader has set them, with the date and the time of when they were first sent. */
  #instructions(): string | undefined {
    const { system } = this.state;
    if (system !== undefined && this.#filled?.system !== system)
      this.#filled = { system, as: fillVariables(system, new Date()) };
    return system === undefined ? undefined : this.#filled?.as;
  }

  #ask({ id, text, pictures }: Queued, parent: string | null, asking: Asking): Promise<void> {
    const held = systemAt(pathTo(this.state.parts, parent)) ?? "";
    const wanted = this.#instructions() ?? (this.state.parts.size === 0 ? asking.system : held);
    const system = wanted === held ? undefined : wanted;
    const key = `question-${id}`;
    return this.#begin({ kind: "question", key, parent, id: undefined, text, pictures, files: [], system }, asking, id);
  }

  /** Show the answers that are to come, and ask for them. Who looks at another branch goes on looking at it. */
  async #begin(question: QuestionPart, asking: Asking, firstKey?: string, asked = Date.now()): Promise<void> {
    const plans = this.#asker.plan(question, asking, firstKey);
    const [first] = plans;
    if (!first) return;
    if (plans.length > 1) this.#besides.add(question.key);
    const known = this.state.parts.has(question.key);
    const parts = new Map([
      ...this.state.parts,
      ...(known ? [] : [[question.key, question] as const]),
      ...plans.map(({ part }) => [part.key, part] as const),
    ]);
    const isShown = this.state.entries.some(
      ({ part }) => part.key === question.parent || part.parent === question.parent,
    );
    const leaf = isShown || this.state.leaf === null ? first.part.key : this.state.leaf;
    this.#waiting.moveOn(question.parent ?? undefined, first.part.key);
    this.set({ parts, leaf, status: "ready", trouble: undefined });
    this.#derive();
    this.#sending.show();
    await this.#asker.ask(question, plans, asking, asked);
  }

  /** A question that the server has refused is none that anything could follow: the next one takes its place. */
  #parentOfNext(leaf: string | null): string | null {
    const path = pathTo(this.state.parts, leaf);
    const refusedAt = path.findIndex((part) => idOf(part) === undefined);
    const refused = path[refusedAt];
    const cut = refused?.kind === "answer" ? refused.answer.continues : undefined;
    if (cut) return this.#answers().find(({ answer }) => answer === cut)?.key ?? null;
    return (refusedAt === -1 ? path.at(-1) : path[refusedAt - 1])?.key ?? null;
  }

  #parentIdOf({ parent }: QuestionPart): string | null {
    const part = parent === null ? undefined : this.state.parts.get(parent);
    return (part && idOf(part)) ?? null;
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
      this.set({ trouble: `The version could not be switched on the server. ${sentenceOf(error)}` }),
    );
  }

  /** Have the answers of a question stand side by side, or one at a time. */
  standBeside(questionKey: string, on: boolean): void {
    this.#alone.delete(questionKey);
    if (on) this.#besides.add(questionKey);
    else {
      this.#besides.delete(questionKey);
      this.#alone.add(questionKey);
    }
    this.#derive();
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
    await (this.#isLost ? this.#reopen() : this.#sending.next());
  }

  /** Where no model is known, the reader is told. */
  #hasModel({ models }: Asking): boolean {
    if (models[0]) return true;
    this.set({ trouble: "Choose a model, then try again." });
    this.flush();
    return false;
  }

  #standingOf(key: string): Standing {
    const part = this.state.parts.get(key);
    const end = part?.kind === "answer" ? part.answer.state.trace.end : undefined;
    if (part?.kind === "answer" && !end) return "running";
    return end?.status === "complete" ? "complete" : "ended";
  }

  // --- what follows from it -------------------------------------------------------------------------------------

  dismissTrouble(): void {
    this.set({ trouble: undefined });
  }

  #changed(answer: Answer): void {
    const part = this.#answers().find((other) => other.answer === answer);
    const pending = answer.continues ? pendingName(answer.continues) : part?.parent;
    if (pending && answer.state.connection === "waiting") this.#promise(pending);
    const isStopped = answer.state.stopping || answer.state.trace.end?.status === "cancelled";
    if (pending && !answer.runId && isStopped) this.#pending.stop(pending, answer.state.trace.model);
    this.#derive();
    this.flush();
    this.#deps.onProgress?.(this);
    if (!answer.isOver) return;
    if (GONE.has(answer.state.trace.end?.code ?? "")) void this.#lookWhetherGone();
    // Another tab continues it: show that continuation.
    if (answer.continues && answer.state.trace.end?.code === "RUN_NOT_OVER") void this.refresh();
    // It was stopped before it had a name, and its connection is closed: the conversation knows what became of it.
    if (isStopped && !answer.runId && !answer.isLive) void this.refresh();
    if (answer.state.trace.end?.cost_estimated) this.#settleLater();
    void this.#sending.next();
  }

  /** The question is sent when the server can be reached, to every model that it is for. */
  #promise(question: string): void {
    this.#pending.promise(question);
    for (const { parent, answer } of this.#answers()) if (parent === question) answer.waitToo();
  }

  /** The server asks for the bill of a stopped run; this is when it usually has it. */
  #settleLater(): void {
    for (const ms of SETTLED_MS) setTimeout(() => void this.refresh(), ms);
  }

  async #lookWhetherGone(): Promise<void> {
    const found = await fetchConversation(this.#deps.client, this.id).catch((error: unknown) => error);
    if (!(found instanceof ApiError) || found.status !== 404) return;
    this.#gone();
    this.set({ trouble: "This conversation was deleted in another tab or browser. Start a new chat to go on." });
    this.#sending.show();
  }

  #derive(): void {
    const { parts, leaf } = this.state;
    const entries = entriesOf(parts, leaf, this.#besides);
    const last = entries.at(-1);
    const ends = this.#answers().map(({ answer }) => answer.state.trace.end);
    this.set({
      entries,
      running: last?.kind === "answer" && [last.part, ...last.beside].some(({ answer }) => !answer.isOver),
      cost: totalOf(ends),
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

/** The server could not be reached, or is not ready to answer: that passes by itself. */
const isOutage = (error: unknown): boolean => error instanceof ApiError && OUTAGES.has(error.status);

const sentenceOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

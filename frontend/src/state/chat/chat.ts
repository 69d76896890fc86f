// One conversation: its tree of questions and answers, the shown branch, and the messages being sent.

import { chooseLeaf, newIdempotencyKey } from "@signalbox/client/requests";
import { newestLeaf, pathTo } from "../../logic/chat/branchTree.ts";
import type { Queued } from "../../logic/chat/messageQueue.ts";
import type { Picture } from "../../types/api.ts";
import type { Answer } from "../answer/answer.ts";
import type { AnswerDeps } from "../answer/answerState.ts";
import { runsOf } from "../answer/joinedAnswer.ts";
import type { ChosenAnswers } from "../chosenAnswers.ts";
import { AnswerLoader } from "../lists/answerLoader.ts";
import { Store } from "../store.ts";
import { AnswerReactions } from "./answerReactions.ts";
import { Branches } from "./branches.ts";
import { idOf, type QuestionPart, systemAt } from "./chatParts.ts";
import { type ChatState, type ChatStore, NEW_CHAT } from "./chatState.ts";
import { Continuations } from "./continuation.ts";
import { ConversationLoader, sentenceOf } from "./conversationLoader.ts";
import { MessageRecovery } from "./messageRecovery.ts";
import { MessageSender, type SenderDeps } from "./messageSender.ts";
import { QueuedMessages } from "./queuedMessages.ts";
import { RejectedColumns } from "./rejectedColumns.ts";
import { type RequestSetup, setupForRetry } from "./requestBody.ts";
import { type Keys, RequestSender } from "./requestSender.ts";
import { SystemPrompt } from "./systemPrompt.ts";
import { type Box, UnconfirmedMessages } from "./unconfirmedMessages.ts";

/** `goOn` must be called when the result of `hold` changes. */
export interface ChatDeps extends AnswerDeps, SenderDeps {
  /** Called when the list of conversations needs an update. */
  onProgress?: (chat: Chat) => void;
  /** Storage for messages that the server has not confirmed. */
  box?: Box | undefined;
  choices?: ChosenAnswers;
}

export class Chat extends Store<ChatState> {
  readonly id: string;
  readonly #deps: ChatDeps;
  readonly #loading = new AnswerLoader();
  readonly #systemPrompt = new SystemPrompt();
  readonly #queued: QueuedMessages;
  readonly #unconfirmed: UnconfirmedMessages;
  readonly #rejected: RejectedColumns;
  readonly #requests: RequestSender;
  readonly #sender: MessageSender;
  readonly #store: ChatStore = {
    read: () => this.state,
    set: (change) => this.set(change),
    flush: () => this.flush(),
  };
  readonly #branches = new Branches(this.#store);
  readonly #loader: ConversationLoader;
  readonly #recovery: MessageRecovery;
  readonly #continuations: Continuations;
  readonly #reactions: AnswerReactions;

  constructor(id: string, deps: ChatDeps) {
    super(NEW_CHAT, deps.schedule);
    this.id = id;
    this.#queued = new QueuedMessages(id, deps.box);
    this.#unconfirmed = new UnconfirmedMessages(deps.box, id);
    this.#rejected = new RejectedColumns(deps.box, id);
    this.#deps = { ...deps, onChange: (answer) => this.#reactions.changed(answer) };
    const shared = { store: this.#store, branches: this.#branches, pending: this.#unconfirmed, waiting: this.#queued };
    this.#loader = new ConversationLoader({
      ...{ ...shared, id, deps: this.#deps },
      enter: () => this.#enter(),
      show: () => this.#sender.show(),
      chosen: () => deps.choices?.of(id),
    });
    this.#continuations = new Continuations({ ...shared, id, deps: this.#deps });
    this.#recovery = new MessageRecovery(this.#branches, this.#unconfirmed, {
      begin: (question, asking, keys, asked) => this.#begin(question, asking, keys, asked),
      continue: (cut, body, key) => this.#continuations.ask(cut, body, key),
      giveBack: (returned) => this.set({ returned }),
    });
    this.#requests = new RequestSender(id, this.#deps, this.#unconfirmed, {
      question: (key) => this.#branches.question(key),
      parentIdOf: (question) => this.#branches.parentIdOf(question),
      name: (key, messageId) => this.#branches.name(key, messageId),
      look: () => this.#reload(),
      isLeft: () => this.#loader.isLeft,
    });
    this.#sender = new MessageSender(this.#queued, this.#deps, {
      isOpen: () => this.state.status === "new" || this.state.status === "ready",
      isGone: () => this.#loader.isGone,
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
    this.#reactions = new AnswerReactions(this.#branches, this.#unconfirmed, this.#rejected, {
      onProgress: () => {
        this.flush();
        deps.onProgress?.(this);
      },
      checkGone: () => void this.#loader.checkGone(),
      refresh: () => void this.refresh(),
      sendNext: () => void this.#sender.next(),
    });
  }

  get client(): ChatDeps["client"] {
    return this.#deps.client;
  }

  /** Whether any branch has a running answer or a queued message. */
  get isBusy(): boolean {
    return this.state.queue.length > 0 || this.#branches.answers().some(({ answer }) => !answer.isOver);
  }

  /** Whether the conversation has no messages. False while it is loading. */
  get isEmpty(): boolean {
    return this.state.parts.size === 0 && (this.state.status === "new" || this.state.status === "ready");
  }

  /** The system prompt for the next message. Undefined in a new chat without one. */
  get system(): string | undefined {
    return this.state.system ?? systemAt(pathTo(this.state.parts, this.state.leaf));
  }

  setSystem(system: string): void {
    this.set({ system });
    this.flush();
  }

  // --- loading --------------------------------------------------------------------------------------------------

  /** Load the conversation and continue what was under way. */
  open(): Promise<void> {
    return this.#loader.open();
  }

  /** Continue what was under way: recover unconfirmed messages and send queued ones. */
  async #enter(): Promise<void> {
    // A recovered question is added to the shown branch.
    this.#branches.derive();
    this.#rejected.restore(this.#branches, this.#deps);
    this.#recovery.recover();
    this.#branches.derive();
    this.flush();
    await this.#sender.next();
  }

  /** Load what other tabs and devices have added. */
  async refresh(): Promise<void> {
    if (this.state.status === "ready") await this.#reload();
  }

  /** Reload the conversation. False if the server did not respond. */
  async #reload(): Promise<boolean> {
    if (!(await this.#loader.refresh())) return false;
    this.#recovery.stopAgain();
    this.#branches.derive();
    return true;
  }

  /** Load an answer's events because it came into view. Call the result when it leaves the view. */
  show(answer: Answer): () => void {
    const stops = runsOf(answer).map((part) => this.#loading.want(part));
    return () => {
      for (const stop of stops) stop();
    };
  }

  /** Return the unsent messages: this question, or a rejected one at the end, and the queue. */
  takeUnsent(key?: string): readonly Queued[] {
    const last = this.state.entries.findLast(({ kind }) => kind === "question")?.part;
    const question = key === undefined ? last : this.state.parts.get(key);
    const isUnsent = question?.kind === "question" && (key !== undefined || question.id === undefined);
    const { text, pictures } = isUnsent ? question : { text: "", pictures: [] };
    if (isUnsent) this.#unconfirmed.drop(question.key);
    return [...(isUnsent ? [{ id: newIdempotencyKey(), text, pictures }] : []), ...this.#sender.takeAll()];
  }

  /** The returned message is back in the message box. */
  takeReturned(): void {
    this.set({ returned: undefined });
  }

  // --- sending --------------------------------------------------------------------------------------------------

  /** Send a message after the last answer, or queue it. Resolves when it is answered or queued. */
  async send(text: string, pictures: readonly Picture[] = []): Promise<void> {
    if (!text.trim() && pictures.length === 0) return;
    const { leaf, running } = this.state;
    const waitsFor = running && leaf ? { answer: leaf } : "nothing";
    this.#queued.add({ id: newIdempotencyKey(), text: text.trim(), pictures }, waitsFor, this.isEmpty);
    await this.#sender.next();
  }

  /** Send an edited version of a question. */
  async edit(key: string, text: string): Promise<void> {
    const question = this.state.parts.get(key);
    if (question?.kind !== "question" || (!text.trim() && question.pictures.length === 0)) return;
    // If the earlier version has not arrived yet, only the edited one is sent.
    for (const { parent, answer } of this.#branches.answers())
      if (parent === key && answer.state.connection === "waiting") void answer.stop();
    if (this.#unconfirmed.isUnauthorized(key)) this.#unconfirmed.drop(key);
    const message = { id: newIdempotencyKey(), text: text.trim(), pictures: question.pictures };
    const asking = await this.#setupNow();
    if (asking) await this.#ask(message, question.parent, asking);
    else await this.#queue({ ...message, parent: question.parent && this.#branches.nameOf(question.parent) });
  }

  /** Answer a question again, with the current settings or with this model, in this column. */
  async again(key: string, model?: string, column?: number): Promise<void> {
    const question = this.state.parts.get(key);
    if (question?.kind !== "question") return;
    // It is sent automatically once the user has entered a token.
    if (this.#unconfirmed.isUnauthorized(key) && this.#deps.hold?.() === "token") return this.#deps.onUnauthorized?.();
    const asking = model === undefined ? await this.#setupNow() : await this.#deps.asking();
    if (asking) await this.#answerAgain(question, asking, model, column);
    else
      await this.#queue({
        id: newIdempotencyKey(),
        text: question.text,
        pictures: [],
        again: this.#branches.nameOf(key),
      });
  }

  /**
   * The current request settings. Undefined if the message must be queued. Being offline does not queue it: the answer
   * itself waits.
   */
  async #setupNow(): Promise<RequestSetup | undefined> {
    const hold = this.#deps.hold?.();
    if (this.#loader.isGone || (hold && hold !== "offline")) return undefined;
    const asking = await this.#deps.asking();
    return asking.models[0] ? asking : undefined;
  }

  /** Queue a message until the request settings are known. */
  async #queue(message: Queued): Promise<void> {
    this.#queued.add(message, "nothing", false);
    await this.#sender.next();
  }

  #askQueued(message: Queued, after: string | undefined, asking: RequestSetup): Promise<void> {
    const { parent, again } = message;
    const question = this.#branches.named(again);
    if (question?.kind === "question") return this.#answerAgain(question, asking);
    const place = parent === null ? null : this.#branches.named(parent)?.key;
    const behind = place === undefined ? this.#branches.nextParent(after ?? this.state.leaf) : place;
    return this.#ask(message, behind, asking);
  }

  #answerAgain(question: QuestionPart, asking: RequestSetup, model?: string, column?: number): Promise<void> {
    return this.#begin(question, setupForRetry(asking, this.state.parts, question.key, model, column));
  }

  /** Continue an answer where it stopped, with the same model and the current settings. */
  continueAnswer(key: string): Promise<void> {
    return this.#continuations.continueAnswer(key, this.#deps.asking);
  }

  /** Stop the running answers of the shown branch. */
  async stop(): Promise<void> {
    await Promise.all(this.#branches.last().map(({ answer }) => answer.stop()));
  }

  /** The chat is no longer shown: stop following its runs, which continue. */
  leave(): void {
    this.#loader.leave();
    for (const { answer } of this.#branches.answers()) answer.leave();
  }

  #ask({ id, text, pictures }: Queued, parent: string | null, asking: RequestSetup): Promise<void> {
    const held = systemAt(pathTo(this.state.parts, parent)) ?? "";
    const wanted = this.#systemPrompt.sent(this.state.system) ?? (this.state.parts.size === 0 ? asking.system : held);
    const system = wanted === held ? undefined : wanted;
    const key = `question-${id}`;
    return this.#begin({ kind: "question", key, parent, id: undefined, text, pictures, files: [], system }, asking, [
      id,
    ]);
  }

  /** Show the new answers and request them. If the user has switched to another branch, that branch stays. */
  async #begin(question: QuestionPart, asking: RequestSetup, keys?: Keys, asked = Date.now()): Promise<void> {
    const plans = this.#requests.plan(question, asking, keys);
    const [first] = plans;
    if (!first) return;
    this.#branches.add(question, [first.part, ...plans.slice(1).map(({ part }) => part)]);
    this.#queued.moveOn(question.parent ?? undefined, first.part.key);
    this.#sender.show();
    await this.#requests.ask(question, plans, asking, asked);
  }

  // --- branches -------------------------------------------------------------------------------------------------

  /** Show the newest branch that contains this part. */
  choose(key: string): void {
    if (!this.state.parts.has(key)) return;
    const leaf = newestLeaf(this.state.parts, key);
    this.set({ leaf });
    this.#branches.derive();
    this.flush();
    const part = this.state.parts.get(leaf);
    const id = part && idOf(part);
    if (id === undefined) return;
    this.#deps.choices?.store(this.id, id);
    chooseLeaf(this.#deps.client, this.id, id).catch((error: unknown) =>
      this.set({ trouble: `The version could not be switched on the server. ${sentenceOf(error)}` }),
    );
  }

  /** Show the answers to a question side by side, or one at a time. */
  standBeside(questionKey: string, on: boolean): void {
    this.#branches.standBeside(questionKey, on);
    this.flush();
  }

  // --- the queue ------------------------------------------------------------------------------------------------

  /** Stop the running answer and send this message next. */
  async sendQueued(id: string): Promise<void> {
    this.#queued.hurry(id);
    if (this.state.running) await this.stop();
    await this.#sender.next();
  }

  /** Remove a message from the queue, to edit or delete it. */
  dropQueued(id: string): Queued | undefined {
    return this.#sender.drop(id);
  }

  /** Continue after the connection is back or the request settings are known. */
  async goOn(): Promise<void> {
    await (this.#loader.isLost ? this.#loader.reopen() : this.#sender.next());
  }

  /** If no model is known, tell the user. */
  #hasModel({ models }: RequestSetup): boolean {
    if (models[0]) return true;
    this.set({ trouble: "Choose a model, then try again." });
    this.flush();
    return false;
  }

  dismissTrouble(): void {
    this.set({ trouble: undefined });
  }
}

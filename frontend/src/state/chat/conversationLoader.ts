// Loads a conversation, retries while the server cannot be reached, and detects that it was deleted.
import { ApiError, fetchConversation, newIdempotencyKey } from "@signalbox/client/requests";
import type { Conversation } from "../../types/api.ts";
import type { AnswerDeps } from "../answer/answerState.ts";
import { Retry } from "../server/retry.ts";
import type { Branches } from "./branches.ts";
import type { ChatStore } from "./chatState.ts";
import type { QueuedMessages } from "./queuedMessages.ts";
import type { UnconfirmedMessages } from "./unconfirmedMessages.ts";

/** The parts of the chat that the loader uses. */
export interface LoaderChat {
  id: string;
  deps: AnswerDeps;
  store: ChatStore;
  branches: Branches;
  pending: UnconfirmedMessages;
  waiting: QueuedMessages;
  /** Called once the conversation is loaded, to continue what was under way. */
  enter(): Promise<void>;
  /** Show the queue. */
  show(): void;
  /** The node that the user has chosen last. */
  chosen(): string | undefined;
}

/** The interval of later attempts to open a conversation. */
const OPEN_LATER_MS = 10_000;

const OUTAGES = new Set([0, 502, 503, 504]);

export class ConversationLoader {
  /** The conversation was deleted elsewhere, so no message can be sent in it. */
  isGone = false;
  /** The server did not respond when the conversation was opened. */
  isLost = false;
  /** The chat is no longer shown. */
  isLeft = false;
  readonly #chat: LoaderChat;
  #opening: Promise<void> | undefined;
  readonly #retry = new Retry(() => void this.reopen(), OPEN_LATER_MS);

  constructor(chat: LoaderChat) {
    this.#chat = chat;
  }

  async open(): Promise<void> {
    const { store } = this.#chat;
    if (store.read().status === "loading") return;
    store.set({ status: "loading", trouble: undefined });
    store.flush();
    await this.reopen();
  }

  /** Try to load it again. The current content stays until that succeeds. */
  reopen(): Promise<void> {
    this.#opening ??= this.#fetch().then((isThere) => {
      this.#opening = undefined;
      if (!isThere) return;
      this.isLost = false;
      this.#retry.stop();
      return this.#chat.enter();
    });
    return this.#opening;
  }

  /** Merge the server's version. False if the server did not respond. After other errors, nothing changes. */
  async refresh(): Promise<boolean> {
    try {
      this.#merge(await this.#conversation());
    } catch (error) {
      return error instanceof ApiError && !isOutage(error);
    }
    return true;
  }

  /** A message was rejected because its parent is unknown, or a run was stopped: check for a deleted conversation. */
  async checkGone(): Promise<void> {
    const found = await this.#conversation().catch((error: unknown) => error);
    if (!isGone(found) || this.isGone) return;
    this.#returnUnsent();
    const trouble = "This conversation was deleted in another tab or browser. Start a new chat to go on.";
    this.#chat.store.set({ trouble });
    this.#chat.show();
  }

  leave(): void {
    this.isLeft = true;
    this.#retry.stop();
  }

  async #fetch(): Promise<boolean> {
    const { store, waiting, pending } = this.#chat;
    if (store.read().queue.length === 0) waiting.restore();
    try {
      this.#merge(await this.#conversation());
    } catch (error) {
      // If the first message is still unsent, the server does not know the conversation yet.
      const isBegun = waiting.begins || pending.all().some(({ parentId }) => parentId === null);
      if (!isGone(error) || !isBegun) {
        this.#fail(error);
        return false;
      }
      store.set({ status: "ready" });
    }
    store.set({ trouble: undefined });
    return true;
  }

  #conversation(): Promise<Conversation> {
    return fetchConversation(this.#chat.deps.client, this.#chat.id);
  }

  #merge(conversation: Conversation): void {
    this.isGone = false;
    this.#chat.branches.merge(conversation, this.#chat.deps, this.#chat.chosen());
  }

  #fail(error: unknown): void {
    const { deps, store } = this.#chat;
    if (error instanceof ApiError && error.status === 401) deps.onUnauthorized?.();
    if (isGone(error)) this.#returnUnsent();
    this.isLost = isOutage(error);
    if (this.isLost && !this.isLeft) this.#retry.failed();
    else this.#retry.stop();
    const trouble = isGone(error) ? "This conversation was not found. It may have been deleted." : sentenceOf(error);
    store.set({ status: "failed", trouble });
    this.#chat.show();
  }

  /** Unsent messages of a deleted conversation are held until the user decides. */
  #returnUnsent(): void {
    const { pending, waiting, branches } = this.#chat;
    this.isGone = true;
    const all = pending.all();
    for (const { question } of all) pending.drop(question);
    const unsent = all.filter(({ messageId, continues }) => messageId === undefined && !continues);
    const wanted = unsent.filter(({ asks }) => !asks.every(({ stopped }) => stopped));
    // Rejected questions that are shown are moved together with their row.
    const unseen = wanted.filter(({ question }) => !branches.question(question));
    waiting.putBack(unseen.map(({ text, pictures }) => ({ id: newIdempotencyKey(), text, pictures })));
  }
}

const isGone = (error: unknown): boolean => error instanceof ApiError && error.status === 404;

/** Whether the server is unreachable or not ready. Such errors pass. */
const isOutage = (error: unknown): boolean => error instanceof ApiError && OUTAGES.has(error.status);

export const sentenceOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

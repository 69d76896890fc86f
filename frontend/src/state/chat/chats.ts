// The chats of this page: the shown one, and others with running answers or queued messages.
import { newIdempotencyKey } from "@signalbox/client/requests";
import { Chat, type ChatDeps } from "./chat.ts";

export class Chats {
  readonly #deps: ChatDeps;
  readonly #chats = new Map<string, Chat>();
  #fresh: Chat | undefined;
  /** The ids of the conversations that were deleted here. */
  readonly deleted = new Set<string>();

  constructor(deps: ChatDeps) {
    this.#deps = deps;
  }

  /** The new chat. Returns the same one until `begun` is called. */
  fresh(): Chat {
    this.#fresh ??= this.#made(newIdempotencyKey());
    return this.#fresh;
  }

  /** The new chat has got its first message and its address. */
  begun(chat: Chat): void {
    if (chat === this.#fresh) this.#fresh = undefined;
  }

  /** The chat with this id. Loads it if necessary. */
  of(id: string): Chat {
    const here = this.#chats.get(id);
    if (here) return here;
    const chat = this.#made(id);
    void chat.open();
    return chat;
  }

  /** The chat is no longer shown. It is dropped unless something is running or queued in it. */
  leave(chat: Chat): void {
    if (chat.isBusy || chat === this.#fresh) return;
    chat.leave();
    this.#chats.delete(chat.id);
  }

  /** Move the unsent messages of a deleted conversation to a new chat: this question and the queue. */
  moveToNew(chat: Chat, question?: string): void {
    const fresh = this.fresh();
    for (const { text, pictures } of chat.takeUnsent(question)) void fresh.send(text, pictures);
  }

  /** The conversation was deleted. */
  forget(id: string): void {
    this.deleted.add(id);
    this.#chats.get(id)?.leave();
    this.#chats.delete(id);
  }

  /** Another tab has changed the conversation. */
  refresh(id: string): void {
    void this.#chats.get(id)?.refresh();
  }

  refreshAll(): void {
    for (const chat of this.#chats.values()) void chat.refresh();
  }

  /** The connection is back, or the request settings are known: send what was waiting. */
  goOn(): void {
    for (const chat of this.#chats.values()) void chat.goOn();
  }

  #made(id: string): Chat {
    const chat = new Chat(id, this.#deps);
    this.#chats.set(id, chat);
    return chat;
  }
}

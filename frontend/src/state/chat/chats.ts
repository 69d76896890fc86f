// The chats of this page: the one that is shown, and those elsewhere in which something is still under way.
import { newKey } from "../../stream/idempotencyKeys.ts";
import { Chat, type ChatDeps } from "./chat.ts";

export class Chats {
  readonly #deps: ChatDeps;
  readonly #chats = new Map<string, Chat>();
  #fresh: Chat | undefined;

  constructor(deps: ChatDeps) {
    this.#deps = deps;
  }

  /** The chat in which nothing was asked yet: the same one until it is `begun`. */
  fresh(): Chat {
    this.#fresh ??= this.#made(newKey());
    return this.#fresh;
  }

  /** It has got its first question and its address: the next fresh chat is another one. */
  begun(chat: Chat): void {
    if (chat === this.#fresh) this.#fresh = undefined;
  }

  /** The conversation of that name; it is brought unless it is here already. */
  of(id: string): Chat {
    const here = this.#chats.get(id);
    if (here) return here;
    const chat = this.#made(id);
    void chat.open();
    return chat;
  }

  /** This one is not shown now: it is kept only while something is under way in it. */
  leave(chat: Chat): void {
    if (chat.isBusy || chat === this.#fresh) return;
    chat.leave();
    this.#chats.delete(chat.id);
  }

  /** What was not sent in a conversation that is gone is asked in a new one: this question, and what waits. */
  moveToNew(chat: Chat, question?: string): void {
    const fresh = this.fresh();
    for (const { text, pictures } of chat.takeUnsent(question)) void fresh.send(text, pictures);
  }

  /** It was deleted. */
  forget(id: string): void {
    this.#chats.get(id)?.leave();
    this.#chats.delete(id);
  }

  /** Something was said in it by another tab. */
  refresh(id: string): void {
    void this.#chats.get(id)?.refresh();
  }

  refreshAll(): void {
    for (const chat of this.#chats.values()) void chat.refresh();
  }

  /** The connection is back, or it is known how to ask: what has waited for that goes. */
  goOn(): void {
    for (const chat of this.#chats.values()) void chat.goOn();
  }

  #made(id: string): Chat {
    const chat = new Chat(id, this.#deps);
    this.#chats.set(id, chat);
    return chat;
  }
}

// Messages with unknown outcome. The tab stores them until the server has sent the ids of their runs.
import { ownKey } from "../../logic/baseUrl.ts";
import type { Picture } from "../../types/api.ts";
import type { ChatBody } from "../../types/models.ts";
import { isSameSlot, type Slot } from "./chatParts.ts";
import { slotIn } from "./requestBody.ts";

export interface UnconfirmedRequest {
  /** The Idempotency-Key: a repeated request with the same key is executed once. */
  key: string;
  body: ChatBody;
  /** The user stopped the answer before its run had an id. */
  stopped?: true;
  /** The server rejected the request unread, so it started no run. */
  unread?: true;
}

export interface UnconfirmedMessage {
  /** The page's key of the question. */
  question: string;
  conversationId: string;
  /** The server's id of the part that it follows. */
  parentId: string | null;
  /** The server's id of the question, if known. */
  messageId: string | undefined;
  text: string;
  pictures: readonly Picture[];
  /** A continuation of the run `parentId`, without a message. */
  continues?: true;
  /** One for each model whose run has no id yet. */
  asks: readonly UnconfirmedRequest[];
  /** When it was sent, in epoch milliseconds. */
  asked: number;
  /** The page has promised to send it when the connection is back. */
  promised?: true;
  /** `refused`: the server rejected it, so it is not sent again. `unauthorized`: it waits for a token. */
  fate: "asked" | "refused" | "unauthorized";
}

const KEY = ownKey("signalbox.pending");
const VERSION = 4;

export type Box = Pick<Storage, "getItem" | "setItem" | "removeItem">;

/** The unconfirmed messages of one conversation. Without storage, messages are sent but not recovered. */
export class UnconfirmedMessages {
  readonly #box: Box | undefined;
  readonly #conversationId: string;

  constructor(box: Box | undefined, conversationId: string) {
    this.#box = box;
    this.#conversationId = conversationId;
  }

  all(): readonly UnconfirmedMessage[] {
    return this.#read().filter(({ conversationId }) => conversationId === this.#conversationId);
  }

  store(pending: UnconfirmedMessage): void {
    this.#write([...this.#read().filter(({ question }) => question !== pending.question), pending]);
  }

  /** The run of this key has an id. Earlier rejected messages are obsolete. */
  started(question: string, key: string, messageId: string): void {
    this.#change((pending) => {
      if (pending.question !== question) return pending.fate === "refused" ? undefined : pending;
      const asks = pending.asks.filter((ask) => ask.key !== key);
      return asks.length > 0 ? { ...pending, messageId, asks } : undefined;
    });
  }

  /** The server rejected the message. */
  refuse(question: string): void {
    this.#change((pending) => (pending.question === question ? { ...pending, fate: "refused" } : pending));
  }

  /** Remove the request with this key: it was rejected or withdrawn. */
  dropAsk(question: string, key: string): void {
    this.#change((pending) => {
      if (pending.question !== question) return pending;
      const asks = pending.asks.filter((ask) => ask.key !== key);
      return asks.length > 0 ? { ...pending, asks } : undefined;
    });
  }

  /** The user stopped the answer in this slot before its run had an id. */
  stop(question: string, slot: Slot): void {
    const stopped = (ask: UnconfirmedRequest): UnconfirmedRequest =>
      isSameSlot(slotIn(ask.body), slot) ? { ...ask, stopped: true } : ask;
    this.#change((pending) =>
      pending.question === question ? { ...pending, asks: pending.asks.map(stopped) } : pending,
    );
  }

  /** The server requires a token for the request with this key. */
  unauthorized(question: string, key: string): void {
    const unread = (ask: UnconfirmedRequest): UnconfirmedRequest => (ask.key === key ? { ...ask, unread: true } : ask);
    this.#change((pending) =>
      pending.question === question ? { ...pending, asks: pending.asks.map(unread), fate: "unauthorized" } : pending,
    );
  }

  isUnauthorized(question: string): boolean {
    return this.all().some((other) => other.question === question && other.fate === "unauthorized");
  }

  promise(question: string): void {
    this.#change((pending) => (pending.question === question ? { ...pending, promised: true } : pending));
  }

  drop(question: string): void {
    this.#change((pending) => (pending.question === question ? undefined : pending));
  }

  /** The key of an earlier request for this slot whose outcome is unknown. */
  keyOf(question: string, slot: Slot): string | undefined {
    const pending = this.all().find((other) => other.question === question && other.fate === "asked");
    return pending?.asks.find(({ body, stopped }) => !stopped && isSameSlot(slotIn(body), slot))?.key;
  }

  #change(change: (pending: UnconfirmedMessage) => UnconfirmedMessage | undefined): void {
    const before = this.#read();
    const after = before.flatMap((pending) => {
      const changed = pending.conversationId === this.#conversationId ? change(pending) : pending;
      return changed ? [changed] : [];
    });
    if (after.length < before.length || after.some((pending, at) => pending !== before[at])) this.#write(after);
  }

  #read(): readonly UnconfirmedMessage[] {
    return readAll(this.#box);
  }

  #write(questions: readonly UnconfirmedMessage[]): void {
    writeAll(this.#box, questions);
  }
}

/** The user has entered a token: messages that were rejected without one are sent after the reload. */
export function sendAfterToken(box: Box | undefined): void {
  const all = readAll(box);
  if (!all.some(({ fate }) => fate === "unauthorized")) return;
  writeAll(
    box,
    all.map((pending) => (pending.fate === "unauthorized" ? { ...pending, fate: "asked", promised: true } : pending)),
  );
}

function readAll(box: Box | undefined): readonly UnconfirmedMessage[] {
  try {
    const { version, questions } = (JSON.parse(box?.getItem(KEY) ?? "null") ?? {}) as Record<string, unknown>;
    return version === VERSION && Array.isArray(questions) ? questions.filter(isUnconfirmed) : [];
  } catch {
    return [];
  }
}

function writeAll(box: Box | undefined, questions: readonly UnconfirmedMessage[]): void {
  try {
    if (questions.length === 0) box?.removeItem(KEY);
    else box?.setItem(KEY, JSON.stringify({ version: VERSION, questions }));
  } catch {
    // The storage is full. The previously stored value is outdated, so remove it.
    forget(box, KEY);
  }
}

export function forget(box: Box | undefined, key: string): void {
  try {
    box?.removeItem(key);
  } catch {
    return;
  }
}

function isUnconfirmed(value: unknown): value is UnconfirmedMessage {
  const { question, conversationId, text, pictures, asks, asked } = (value ?? {}) as Partial<UnconfirmedMessage>;
  return (
    typeof question === "string" &&
    typeof conversationId === "string" &&
    typeof text === "string" &&
    Array.isArray(pictures) &&
    Array.isArray(asks) &&
    asks.every(({ key, body }) => typeof key === "string" && typeof body?.model === "string") &&
    typeof asked === "number"
  );
}

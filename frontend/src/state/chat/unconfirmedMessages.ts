// Questions of which nobody knows yet whether they came through: this tab keeps them until the server has named their runs.
import type { Picture } from "../../types/api.ts";
import type { ChatBody } from "../../types/models.ts";

export interface PendingAsk {
  /** The Idempotency-Key: sent again under it, the question is asked once. */
  key: string;
  body: ChatBody;
  /** The reader has stopped it before its run had a name: it is not to be answered. */
  stopped?: true;
  /** The server has turned it away unread: no run came of it. */
  unread?: true;
}

export interface Pending {
  /** The page's key of the question. */
  question: string;
  conversationId: string;
  /** The server's name of what it follows. */
  parentId: string | null;
  /** The server's name of it, once there is one. */
  messageId: string | undefined;
  text: string;
  pictures: readonly Picture[];
  /** It has no words: it continues the run `parentId`. */
  continues?: true;
  /** One for each model whose run has no name yet. */
  asks: readonly PendingAsk[];
  /** When it was asked, in epoch milliseconds. */
  asked: number;
  /** The page has said that it will be sent when the connection is back. */
  promised?: true;
  /** `refused`: the server will not have it, so it is not asked again. `unauthorized`: not before there is a token. */
  fate: "asked" | "refused" | "unauthorized";
}

const KEY = "signalbox.pending";
const VERSION = 4;

export type Box = Pick<Storage, "getItem" | "setItem" | "removeItem">;

/** Those of one conversation. Where the tab keeps nothing, questions are asked all the same. */
export class PendingQuestions {
  readonly #box: Box | undefined;
  readonly #conversationId: string;

  constructor(box: Box | undefined, conversationId: string) {
    this.#box = box;
    this.#conversationId = conversationId;
  }

  all(): readonly Pending[] {
    return this.#read().filter(({ conversationId }) => conversationId === this.#conversationId);
  }

  keep(pending: Pending): void {
    this.#write([...this.#read().filter(({ question }) => question !== pending.question), pending]);
  }

  /** The run of this key has a name, and with it the question. What was refused before has been overtaken. */
  started(question: string, key: string, messageId: string): void {
    this.#change((pending) => {
      if (pending.question !== question) return pending.fate === "refused" ? undefined : pending;
      const asks = pending.asks.filter((ask) => ask.key !== key);
      return asks.length > 0 ? { ...pending, messageId, asks } : undefined;
    });
  }

  /** The server will not have the question. */
  refuse(question: string): void {
    this.#change((pending) => (pending.question === question ? { ...pending, fate: "refused" } : pending));
  }

  /** The server will not have what was sent under this key, or the reader has taken it back: nothing is left to send. */
  dropAsk(question: string, key: string): void {
    this.#change((pending) => {
      if (pending.question !== question) return pending;
      const asks = pending.asks.filter((ask) => ask.key !== key);
      return asks.length > 0 ? { ...pending, asks } : undefined;
    });
  }

  /** The reader has stopped this model's answer before its run had a name. */
  stop(question: string, model: string): void {
    const stopped = (ask: PendingAsk): PendingAsk => (ask.body.model === model ? { ...ask, stopped: true } : ask);
    this.#change((pending) =>
      pending.question === question ? { ...pending, asks: pending.asks.map(stopped) } : pending,
    );
  }

  /** The server wants a token before it reads what was sent under this key. */
  unauthorized(question: string, key: string): void {
    const unread = (ask: PendingAsk): PendingAsk => (ask.key === key ? { ...ask, unread: true } : ask);
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

  /** The key under which this model was asked for this question, and nobody has said what became of it. */
  keyOf(question: string, model: string): string | undefined {
    const pending = this.all().find((other) => other.question === question && other.fate === "asked");
    return pending?.asks.find(({ body, stopped }) => !stopped && body.model === model)?.key;
  }

  #change(change: (pending: Pending) => Pending | undefined): void {
    const before = this.#read();
    const after = before.flatMap((pending) => {
      const changed = pending.conversationId === this.#conversationId ? change(pending) : pending;
      return changed ? [changed] : [];
    });
    if (after.length < before.length || after.some((pending, at) => pending !== before[at])) this.#write(after);
  }

  #read(): readonly Pending[] {
    return readAll(this.#box);
  }

  #write(questions: readonly Pending[]): void {
    writeAll(this.#box, questions);
  }
}

/** The reader has given a token: what this tab could not ask without one is sent by itself once the page is loaded. */
export function sendAfterToken(box: Box | undefined): void {
  const all = readAll(box);
  if (!all.some(({ fate }) => fate === "unauthorized")) return;
  writeAll(
    box,
    all.map((pending) => (pending.fate === "unauthorized" ? { ...pending, fate: "asked", promised: true } : pending)),
  );
}

function readAll(box: Box | undefined): readonly Pending[] {
  try {
    const { version, questions } = (JSON.parse(box?.getItem(KEY) ?? "null") ?? {}) as Record<string, unknown>;
    return version === VERSION && Array.isArray(questions) ? questions.filter(isPending) : [];
  } catch {
    return [];
  }
}

function writeAll(box: Box | undefined, questions: readonly Pending[]): void {
  try {
    if (questions.length === 0) box?.removeItem(KEY);
    else box?.setItem(KEY, JSON.stringify({ version: VERSION, questions }));
  } catch {
    // It does not fit: what was kept before is not true any more.
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

function isPending(value: unknown): value is Pending {
  const { question, conversationId, text, pictures, asks, asked } = (value ?? {}) as Partial<Pending>;
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

// One run as the page sees it: the POST, its events, and taking it up again when the connection drops.
import type { ChatEvent } from "../types/events.ts";
import type { ChatBody } from "../types/models.ts";
import type { ApiClient } from "./client.ts";
import { ApiError } from "./errors.ts";
import { Cursor, FrameReader } from "./frames.ts";
import { newKey } from "./keys.ts";

export interface ChatHandlers {
  /** The run has a name; its events follow. */
  onStart?(runId: string, loop: string): void;
  onEvent(event: ChatEvent): void;
  /** The connection dropped and is being taken up again, or is back. */
  onConnection?(state: "open" | "resuming"): void;
}

export interface ChatOptions extends ChatHandlers {
  client: ApiClient;
  signal: AbortSignal;
  /** The question's Idempotency-Key: sent again under it, it is answered by the run that it has started already. */
  key?: string;
  /** Waits before a question that nobody answered is sent again. */
  askDelays?: readonly number[];
  /** Waits before each attempt to take a dropped run up again; a new event starts the row anew. */
  resumeDelays?: readonly number[];
  /** Silence after which a connection counts as dropped; the server pings every 15 s. */
  idleMs?: number;
}

/** `done`: the run's own end came. `aborted`: by the signal. `lost`: the run could not be taken up again. */
export type ChatEnd = "done" | "aborted" | "lost";

const ASK_DELAYS = [500, 1000, 2000] as const;
const RESUME_DELAYS = [0, 500, 1000, 2000, 4000, 8000] as const;
const IDLE_MS = 45_000;

/**
 * Start a run and follow it to its end. Throws ApiError when no run came to be. A question that nobody answered is sent
 * again under its key: whether or not it came through, it is asked once.
 */
export async function postChat(body: ChatBody, options: ChatOptions): Promise<ChatEnd> {
  try {
    const response = await ask(JSON.stringify(body), options);
    const runId = response.headers.get("x-run-id") ?? "";
    options.onStart?.(runId, response.headers.get("x-tool-loop") ?? "");
    return await new Follower(runId, options).follow(response);
  } catch (error) {
    if (options.signal.aborted) return "aborted";
    throw error;
  }
}

async function ask(body: string, options: ChatOptions): Promise<Response> {
  const { client, signal, key = newKey() } = options;
  const headers = { "content-type": "application/json", accept: "text/event-stream", "idempotency-key": key };
  const delays = options.askDelays ?? ASK_DELAYS;
  for (let attempt = 0; ; attempt++) {
    try {
      const response = await client.request("/api/chat/stream", { method: "POST", headers, body, signal });
      if (attempt > 0) options.onConnection?.("open");
      return response;
    } catch (error) {
      const delay = delays[attempt];
      if (delay === undefined || !isUnanswered(error)) throw error;
      options.onConnection?.("resuming");
      await sleep(delay, signal);
    }
  }
}

/** Whether nobody knows what became of a request: no answer came, or a proxy answered that it got none. */
const isUnanswered = (error: unknown): boolean => error instanceof ApiError && [0, 502, 504].includes(error.status);

/** Follow a run that is there already, from its first event to its end. */
export async function followRun(runId: string, options: ChatOptions): Promise<ChatEnd> {
  try {
    return await new Follower(runId, options).follow();
  } catch (error) {
    if (options.signal.aborted) return "aborted";
    throw error;
  }
}

class Follower {
  readonly #cursor = new Cursor();
  readonly #runId: string;
  readonly #options: ChatOptions;
  #done = false;
  #fresh = false;

  constructor(runId: string, options: ChatOptions) {
    this.#runId = runId;
    this.#options = options;
  }

  /** Read the first response, then take the run up again as often as it takes. */
  async follow(first?: Response): Promise<ChatEnd> {
    let response = first ?? (await this.#resume());
    const delays = this.#options.resumeDelays ?? RESUME_DELAYS;
    for (let attempt = 0; ; ) {
      if (response === "gone") return "lost";
      if (response) {
        this.#fresh = false;
        await this.#read(response);
        if (this.#done) return "done";
        if (this.#fresh) attempt = 0;
      }
      const delay = delays[attempt++];
      if (!this.#runId || delay === undefined) return "lost";
      this.#options.onConnection?.("resuming");
      await sleep(delay, this.#options.signal);
      response = await this.#resume();
    }
  }

  /** A run that the server does not know, or will not show, is gone; everything else is worth another try. */
  async #resume(): Promise<Response | undefined | "gone"> {
    const { client, signal } = this.#options;
    const headers: Record<string, string> = { accept: "text/event-stream" };
    if (this.#cursor.lastId) headers["last-event-id"] = this.#cursor.lastId;
    try {
      const response = await client.request(`/api/runs/${encodeURIComponent(this.#runId)}/events`, { headers, signal });
      this.#options.onConnection?.("open");
      return response;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return error.status >= 400 && error.status < 500 && error.status !== 429 ? "gone" : undefined;
    }
  }

  /** Hand on the events of one connection, until `done`, its end, or too long a silence. */
  async #read(response: Response): Promise<void> {
    const reader = response.body?.getReader();
    if (!reader) return;
    const frames = new FrameReader((frame) => {
      if (this.#done || !this.#cursor.accept(frame)) return;
      this.#fresh = true;
      this.#done = frame.event.type === "done";
      this.#options.onEvent(frame.event);
    });
    const idle = this.#options.idleMs ?? IDLE_MS;
    try {
      while (!this.#done) {
        const bytes = await nextRead(reader, idle, this.#options.signal);
        if (!bytes) return;
        frames.feed(bytes);
      }
    } finally {
      if (this.#done) void leaveToEnd(reader);
      // Frees the connection; when it is broken already there is nothing to free.
      else reader.cancel().catch(() => undefined);
    }
  }
}

const END_MS = 3000;

/** The server closes the stream behind `done`: cancelling it before would look like a failure in the browser's log. */
async function leaveToEnd(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const drain = async () => {
    while (!(await reader.read()).done);
    return true;
  };
  // A connection that breaks now breaks nothing: everything has come.
  const ended = await withTimeout(drain(), END_MS).catch(() => true);
  if (!ended) reader.cancel().catch(() => undefined);
}

/** The next bytes, or nothing when the connection ended, broke or fell silent: all three mean the same here. */
async function nextRead(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  idleMs: number,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  try {
    return (await withTimeout(reader.read(), idleMs))?.value;
  } catch (error) {
    if (signal.aborted) throw error;
    return undefined;
  }
}

/** The promise's value, or undefined when it takes longer than that. */
async function withTimeout<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    signal.addEventListener("abort", onAbort, { once: true });
  });
}

// Follows a run: on a live stream if a slot is free, otherwise by polling. Resumes after connection losses.

import type { ChatEvent, UnknownEvent } from "../types/receivedEvents.ts";
import { type ApiClient, requestEvents } from "./client.ts";
import { browserSlots, browserTurn, type Release, type Slots, type Turn } from "./connectionSlots.ts";
import { ApiError, unreachable } from "./errors.ts";
import { browserPage, type Page, sleep, withTimeout } from "./sleep.ts";
import { Cursor, FrameReader } from "./sseFrames.ts";

/**
 * `polling`: all live streams are in use. `waiting`: the server cannot be reached, and the message is sent when it can.
 */
export type Connection = "open" | "resuming" | "polling" | "waiting";

export interface FollowOptions {
  client: ApiClient;
  signal: AbortSignal;
  /** Called once per event, with its sequence number, or 0 if the server sends none. */
  onEvent(event: ChatEvent, seq: number): void;
  /** Called for events of types that this client does not know. */
  onUnknown?(event: UnknownEvent, seq: number): void;
  /** Called when the connection state changes. */
  onConnection?(state: Connection): void;
  /** Called with the reason of each failed attempt. */
  onFailure?(error: ApiError): void;
  /** The id of the last event that is known already. */
  lastEventId?: string;
  /** Delays before each attempt to resume. A new event resets them. */
  resumeDelays?: readonly number[];
  /** Delays between polls. The last one repeats. */
  pollDelays?: readonly number[];
  /** A connection without any bytes for this long counts as lost. The server pings every 15 s. */
  idleMs?: number;
  slots?: Slots;
  turn?: Turn;
  page?: Page;
}

/** `done`: the run ended. `aborted`: by the signal. `lost`: the run could not be resumed. */
export type FollowEnd = "done" | "aborted" | "lost";

/**
 * The outcome of one attempt. `ended`: the stream ended without `done`. `polled`: all available events were read.
 * `gone`: the run does not exist.
 */
type Outcome = "ended" | "polled" | "gone" | { waitMs: number };

const RESUME_DELAYS = [0, 500, 1000, 2000, 4000, 8000] as const;
const POLL_DELAYS = [250, 250, 250, 250, 500, 1000] as const;
const HIDDEN_POLL_MS = 2500;
const IDLE_MS = 45_000;
/** The time limit for response headers, and for a whole poll. */
const ANSWER_MS = 15_000;
/** Statuses that a retry cannot change. */
const GONE: readonly number[] = [404, 410, 422];
/** The longest accepted Retry-After, and the longest sleep while offline. */
const LONGEST_MS = 300_000;

export class RunFollower {
  readonly #path: string;
  readonly #options: FollowOptions;
  readonly #page: Page;
  readonly #cursor = new Cursor();
  #slot: Release | undefined;
  #connection: Connection = "open";
  #done = false;
  #fresh = false;

  /** `path` is the address of the run's events. `slot` is released at the end. */
  constructor(path: string, options: FollowOptions, place?: Release) {
    this.#path = path;
    this.#options = options;
    this.#page = options.page ?? browserPage;
    this.#slot = place;
    if (options.lastEventId) this.#cursor.start(options.lastEventId);
  }

  /** Read the first response, if any, then reconnect as often as necessary. Throws ApiError for a 401. */
  async follow(first?: Response): Promise<FollowEnd> {
    try {
      return await this.#follow(first);
    } finally {
      this.#slot?.();
    }
  }

  async #follow(first?: Response): Promise<FollowEnd> {
    const { signal, resumeDelays = RESUME_DELAYS } = this.#options;
    let failures = 0;
    let polls = 0;
    for (let response = first; ; response = undefined) {
      this.#fresh = false;
      const outcome = response ? await this.#read(response) : await this.#reconnect();
      if (this.#done) return "done";
      if (outcome === "gone") return "lost";
      if (outcome === "polled" || this.#fresh) failures = 0;
      if (outcome === "polled") {
        await sleep(this.#pollMs(polls++), signal, this.#page);
        continue;
      }
      if (typeof outcome !== "object") this.#options.onFailure?.(unreachable());
      // While offline, wait for the network instead of counting failures.
      const delay = resumeDelays[failures++] ?? (this.#page.isOffline() ? LONGEST_MS : undefined);
      if (delay === undefined) return "lost";
      this.#report("resuming");
      const waitMs = typeof outcome === "object" ? outcome.waitMs : 0;
      if (waitMs > 0) await sleep(Math.max(waitMs, delay), signal);
      else await sleep(delay, signal, this.#page);
    }
  }

  #pollMs(polls: number): number {
    const { pollDelays = POLL_DELAYS } = this.#options;
    const delay = pollDelays[Math.min(polls, pollDelays.length - 1)] ?? 1000;
    return this.#page.isHidden() ? Math.max(delay, HIDDEN_POLL_MS) : delay;
  }

  async #reconnect(): Promise<Outcome> {
    const { slots = browserSlots, signal } = this.#options;
    this.#slot ??= await slots.acquire(signal);
    return this.#slot ? this.#live() : this.#poll();
  }

  async #live(): Promise<Outcome> {
    const { lastId } = this.#cursor;
    const answer = await this.#request(this.#path, lastId ? { "last-event-id": lastId } : {});
    if (!(answer instanceof Response)) return answer;
    this.#report("open");
    return this.#read(answer);
  }

  /** Only one poll at a time, over all runs and tabs. With four streams, that leaves one connection for a stop. */
  async #poll(): Promise<Outcome> {
    const { turn = browserTurn, signal } = this.#options;
    const release = await turn(signal);
    try {
      const after = Math.max(this.#cursor.lastSeq, 0);
      const answer = await this.#request(`${this.#path}?after=${after}&follow=false`, {});
      if (!(answer instanceof Response)) return answer;
      this.#report("polling");
      const outcome = await this.#read(answer, ANSWER_MS);
      return outcome === "ended" ? "polled" : outcome;
    } finally {
      release();
    }
  }

  /** Send a request. A missing run is gone and a 401 is thrown; after other errors, it is worth retrying. */
  async #request(path: string, headers: Record<string, string>): Promise<Response | Outcome> {
    const { client, signal } = this.#options;
    try {
      const init = { headers: { accept: "text/event-stream", ...headers }, signal };
      const response = await requestEvents(client, path, init, ANSWER_MS);
      // All events have been seen, but `done` was not among them.
      return response.status === 204 ? "gone" : response;
    } catch (error) {
      if (!(error instanceof ApiError) || error.status === 401) throw error;
      this.#options.onFailure?.(error);
      if (GONE.includes(error.status)) return "gone";
      return { waitMs: Math.min((error.retryAfter ?? 0) * 1000, LONGEST_MS) };
    }
  }

  /** Read the events of one connection, until `done`, the end of the stream, or too long a silence. */
  async #read(response: Response, idleMs = this.#options.idleMs ?? IDLE_MS): Promise<Outcome> {
    const reader = response.body?.getReader();
    if (!reader) return "ended";
    const frames = new FrameReader((frame) => {
      if (this.#done || !this.#cursor.accept(frame)) return;
      this.#fresh = true;
      const { event, seq = 0 } = frame;
      this.#done = event.type === "done";
      if (event.type === "unknown") this.#options.onUnknown?.(event, seq);
      else this.#options.onEvent(event, seq);
    });
    // A connection from before the network loss may stay silent forever.
    const leave = this.#page.onOnline(() => void reader.cancel().catch(() => undefined));
    try {
      while (!this.#done) {
        const read = await nextRead(reader, idleMs, this.#options.signal);
        if (!read) return { waitMs: 0 };
        if (read.done) break;
        frames.feed(read.value);
      }
      return "ended";
    } finally {
      leave();
      if (this.#done) void leaveToEnd(reader);
      // Frees the connection, unless it is broken already.
      else reader.cancel().catch(() => undefined);
    }
  }

  #report(state: Connection): void {
    if (state === this.#connection) return;
    this.#connection = state;
    this.#options.onConnection?.(state);
  }
}

const END_MS = 3000;

/** The server closes the stream after `done`. Cancelling it first would be logged as a failure in the browser. */
async function leaveToEnd(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const drain = async () => {
    while (!(await reader.read()).done);
    return true;
  };
  // A broken connection no longer matters: all events have arrived.
  const ended = await withTimeout(drain(), END_MS).catch(() => true);
  if (!ended) reader.cancel().catch(() => undefined);
}

/** The next bytes, or undefined if the connection broke or fell silent. */
async function nextRead(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  idleMs: number,
  signal: AbortSignal,
): Promise<ReadableStreamReadResult<Uint8Array> | undefined> {
  try {
    return await withTimeout(reader.read(), idleMs);
  } catch (error) {
    if (signal.aborted) throw error;
    return undefined;
  }
}

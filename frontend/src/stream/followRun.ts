// Following a run: live where a stream is free, by asking now and then where none is, and on again when it drops.
import type { ChatEvent } from "../types/receivedEvents.ts";
import { type ApiClient, requestEvents } from "./client.ts";
import { browserSlots, browserTurn, type Release, type Slots, type Turn } from "./connectionSlots.ts";
import { ApiError } from "./errors.ts";
import { browserPage, type Page, sleep, withTimeout } from "./sleep.ts";
import { Cursor, FrameReader } from "./sseFrames.ts";

/**
 * `polling`: all live streams are taken, so the run is asked for its news. `waiting`: the server cannot be reached, and
 * the question is sent when it can.
 */
export type Connection = "open" | "resuming" | "polling" | "waiting";

export interface FollowOptions {
  client: ApiClient;
  signal: AbortSignal;
  /** Each event once, with its place in the run; 0 where the server sends none. */
  onEvent(event: ChatEvent, seq: number): void;
  /** The connection dropped and is being taken up again, is back, or is none. */
  onConnection?(state: Connection): void;
  /** Waits before each attempt to take a dropped run up again; a new event starts the row anew. */
  resumeDelays?: readonly number[];
  /** Waits between two polls; the last holds for all later ones. */
  pollDelays?: readonly number[];
  /** Silence after which a connection counts as dropped; the server pings every 15 s. */
  idleMs?: number;
  slots?: Slots;
  turn?: Turn;
  page?: Page;
}

/** `done`: the run's own end came. `aborted`: by the signal. `lost`: the run could not be taken up again. */
export type FollowEnd = "done" | "aborted" | "lost";

/** How one attempt went: `ended` without an end of the run, `polled` what there is, `gone` for good. */
type Outcome = "ended" | "polled" | "gone" | { waitMs: number };

const RESUME_DELAYS = [0, 500, 1000, 2000, 4000, 8000] as const;
const POLL_DELAYS = [250, 250, 250, 250, 500, 1000] as const;
const HIDDEN_POLL_MS = 2500;
const IDLE_MS = 45_000;
/** How long a request for events may take to be answered, and a poll to go on. */
const ANSWER_MS = 15_000;
/** Refusals that stay: the run is not there, or not any more, or nothing is where we ask. */
const GONE: readonly number[] = [404, 410, 422];
/** The longest that a server may ask us to wait, and the longest sleep of a browser without network. */
const LONGEST_MS = 300_000;

export class Follower {
  readonly #path: string;
  readonly #options: FollowOptions;
  readonly #page: Page;
  readonly #cursor = new Cursor();
  #place: Release | undefined;
  #connection: Connection = "open";
  #done = false;
  #fresh = false;

  /** `path` is where the run's events are. `place` is given back at the end. */
  constructor(path: string, options: FollowOptions, place?: Release) {
    this.#path = path;
    this.#options = options;
    this.#page = options.page ?? browserPage;
    this.#place = place;
  }

  /** Read the first response, where there is one, then ask as often as it takes. Throws ApiError for a 401. */
  async follow(first?: Response): Promise<FollowEnd> {
    try {
      return await this.#follow(first);
    } finally {
      this.#place?.();
    }
  }

  async #follow(first?: Response): Promise<FollowEnd> {
    const { signal, resumeDelays = RESUME_DELAYS } = this.#options;
    let failures = 0;
    let polls = 0;
    for (let response = first; ; response = undefined) {
      this.#fresh = false;
      const outcome = response ? await this.#read(response) : await this.#ask();
      if (this.#done) return "done";
      if (outcome === "gone") return "lost";
      if (outcome === "polled" || this.#fresh) failures = 0;
      if (outcome === "polled") {
        await sleep(this.#pollMs(polls++), signal, this.#page);
        continue;
      }
      // Without a network nothing is tried in vain: it goes on when that is back.
      const delay = resumeDelays[failures++] ?? (this.#page.isOffline() ? LONGEST_MS : undefined);
      if (delay === undefined) return "lost";
      this.#tell("resuming");
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

  async #ask(): Promise<Outcome> {
    const { slots = browserSlots, signal } = this.#options;
    this.#place ??= await slots.take(signal);
    return this.#place ? this.#live() : this.#poll();
  }

  async #live(): Promise<Outcome> {
    const { lastId } = this.#cursor;
    const answer = await this.#request(this.#path, lastId ? { "last-event-id": lastId } : {});
    if (!(answer instanceof Response)) return answer;
    this.#tell("open");
    return this.#read(answer);
  }

  /** Only one poll at a time, over all runs and tabs: beside four streams that leaves room for a stop. */
  async #poll(): Promise<Outcome> {
    const { turn = browserTurn, signal } = this.#options;
    const release = await turn(signal);
    try {
      const after = Math.max(this.#cursor.lastSeq, 0);
      const answer = await this.#request(`${this.#path}?after=${after}&follow=false`, {});
      if (!(answer instanceof Response)) return answer;
      this.#tell("polling");
      const outcome = await this.#read(answer, ANSWER_MS);
      return outcome === "ended" ? "polled" : outcome;
    } finally {
      release();
    }
  }

  /** A run that is not there is gone; without its token it may not be read; everything else is worth another try. */
  async #request(path: string, headers: Record<string, string>): Promise<Response | Outcome> {
    const { client, signal } = this.#options;
    try {
      const init = { headers: { accept: "text/event-stream", ...headers }, signal };
      const response = await requestEvents(client, path, init, ANSWER_MS);
      // It is over and all was seen, and yet its end was not among it.
      return response.status === 204 ? "gone" : response;
    } catch (error) {
      if (!(error instanceof ApiError) || error.status === 401) throw error;
      if (GONE.includes(error.status)) return "gone";
      return { waitMs: Math.min((error.retryAfter ?? 0) * 1000, LONGEST_MS) };
    }
  }

  /** Hand on the events of one connection, until the run's end, its own, or too long a silence. */
  async #read(response: Response, idleMs = this.#options.idleMs ?? IDLE_MS): Promise<Outcome> {
    const reader = response.body?.getReader();
    if (!reader) return "ended";
    const frames = new FrameReader((frame) => {
      if (this.#done || !this.#cursor.accept(frame)) return;
      this.#fresh = true;
      this.#done = frame.event.type === "done";
      this.#options.onEvent(frame.event, frame.seq ?? 0);
    });
    // A connection from before the network went away may never say that it is dead.
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
      // Frees the connection; when it is broken already there is nothing to free.
      else reader.cancel().catch(() => undefined);
    }
  }

  #tell(state: Connection): void {
    if (state === this.#connection) return;
    this.#connection = state;
    this.#options.onConnection?.(state);
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

/** The next bytes, or nothing when the connection broke or fell silent. */
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

// A run whose events are read one by one, without gaps and without repetitions.
import { type Answer, answerOf, type RunEvent } from "./answers.ts";
import type { ApiClient } from "./requests/client.ts";
import type { Slots, Turn } from "./requests/connectionSlots.ts";
import { type ApiError, unreachable } from "./requests/errors.ts";
import type { FollowEnd } from "./requests/followRun.ts";
import { fields, readBody, text } from "./requests/jsonFields.ts";
import type { ChatOptions } from "./requests/runStream.ts";
import { type Backoff, delaysOf, streaming } from "./retries.ts";
import { errorOf, SignalboxError } from "./signalboxErrors.ts";

export interface StoppedRun {
  runId: string;
  /** False if the run was already over. */
  stopped: boolean;
  status: string;
}

/** How a run is followed. */
export interface RunContext {
  /** Sends requests for streams. Each is sent once. */
  client: ApiClient;
  /** Sends other requests, and repeats them. */
  requests: ApiClient;
  backoff: Backoff;
  /** The run is stopped if its reader leaves. */
  stopsOnLeaving: boolean;
  signal?: AbortSignal | undefined;
  id?: string;
}

/** An aborted question may be on its way: this long, its response is waited for, so that the run can be stopped. */
const START_MS = 5000;

// Outside browsers, connections are not limited.
const UNLIMITED: { slots: Slots; turn: Turn } = {
  slots: { acquire: async () => () => undefined },
  turn: async () => () => undefined,
};

export class Run implements AsyncIterable<RunEvent> {
  #id: string;
  #conversationId: string | undefined;
  #messageId: string | undefined;
  readonly #context: RunContext;
  readonly #leaving = new AbortController();
  readonly #events: RunEvent[] = [];
  #failure: ApiError | undefined;
  /** Set when the events end for the reader. */
  #end: { error: unknown } | undefined;
  /** No request is on its way. */
  #isSettled = false;
  #onChange: (() => void)[] = [];

  /** @internal Runs are made by `Signalbox`. */
  constructor(context: RunContext, follow: (options: ChatOptions) => Promise<FollowEnd>) {
    this.#context = context;
    this.#id = context.id ?? "";
    const { client, backoff, signal } = context;
    const delays = delaysOf(backoff);
    follow({
      client: streaming(client, backoff),
      signal: this.#leaving.signal,
      askDelays: delays,
      lineDelays: [],
      patienceMs: backoff.patienceMs,
      resumeDelays: delays,
      ...(typeof document === "undefined" && UNLIMITED),
      onStart: ({ runId, conversationId, messageId }) => {
        this.#id = runId;
        this.#conversationId = conversationId || undefined;
        this.#messageId = messageId || undefined;
        this.#change();
      },
      onEvent: (event, seq) => this.#add(Object.assign(event, { seq })),
      onUnknown: (event, seq) => this.#add(Object.assign(event, { seq })),
      onFailure: (error) => this.#onFailure(error),
    }).then(
      (end) => this.#settle(end === "lost" && this.#failure ? errorOf(this.#failure) : undefined),
      (error) => this.#settle(errorOf(error)),
    );
    if (signal?.aborted) this.#abort();
    else signal?.addEventListener("abort", this.#abort, { once: true });
  }

  /** The run's id. */
  get id(): string {
    return this.#id;
  }

  /** The conversation of the run. Undefined if it belongs to none. */
  get conversationId(): string | undefined {
    return this.#conversationId;
  }

  /** The message that the run answers. */
  get messageId(): string | undefined {
    return this.#messageId;
  }

  /** @internal Resolves when the run has an id. */
  async started(): Promise<this> {
    while (!this.#id) {
      if (this.#end) throw this.#end.error ?? errorOf(unreachable());
      await this.#changed();
    }
    return this;
  }

  /**
   * All events from the first one, also if the run was iterated over before. Leaving the loop early stops the run, unless
   * `on_disconnect` is `continue`.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<RunEvent, void, undefined> {
    let isComplete = false;
    try {
      for (let next = 0; ; ) {
        for (let event = this.#events[next]; event; event = this.#events[next]) {
          next += 1;
          yield event;
        }
        if (this.#end) break;
        await this.#changed();
      }
      isComplete = true;
    } finally {
      if (!isComplete) await this.#leave();
    }
    if (this.#end?.error) throw this.#end.error;
  }

  /** Read the run to its end. The answer has all events that this object has received. */
  async answer(): Promise<Answer> {
    while (!this.#end) await this.#changed();
    const last = this.#events.at(-1);
    if (last?.type === "done") {
      const ids = { runId: this.#id, conversationId: this.#conversationId, messageId: this.#messageId };
      return answerOf(this.#events, last, ids);
    }
    throw (
      this.#end.error ??
      new SignalboxError("NO_DONE", "The last event of the run was not received. Read the run from its first event.")
    );
  }

  /** Stop the run. Its events end with `done`, whose status is usually `cancelled`. */
  async stop(): Promise<StoppedRun> {
    return stopAt(this.#context.requests, this.#id);
  }

  /** The reader has left the loop. After a stop, the last events still arrive, so that `answer()` is complete. */
  async #leave(): Promise<void> {
    if (this.#end) return;
    if (this.#context.stopsOnLeaving) await this.stop();
    else this.#leaving.abort();
  }

  readonly #abort = (): void => {
    if (this.#end) return;
    this.#finish(this.#context.signal?.reason);
    if (this.#context.stopsOnLeaving) void this.#stopWhenStarted();
    else this.#leaving.abort();
  };

  async #stopWhenStarted(): Promise<void> {
    const timer = setTimeout(() => this.#leaving.abort(), START_MS);
    while (!this.#id && !this.#isSettled) await this.#changed();
    clearTimeout(timer);
    this.#leaving.abort();
    // The caller has an abort to handle. If the stop fails, the server ends the run without subscribers later.
    if (this.#id) await this.stop().catch(() => undefined);
  }

  #add(event: RunEvent): void {
    this.#failure = undefined;
    this.#events.push(event);
    this.#change();
  }

  #onFailure(error: ApiError): void {
    this.#failure = error;
    if ((error.retryAfter ?? 0) * 1000 <= this.#context.backoff.patienceMs) return;
    this.#finish(errorOf(error));
    this.#leaving.abort();
  }

  #settle(error: unknown): void {
    this.#isSettled = true;
    this.#finish(error);
  }

  #finish(error: unknown): void {
    this.#end ??= { error };
    this.#context.signal?.removeEventListener("abort", this.#abort);
    this.#change();
  }

  #change(): void {
    for (const resolve of this.#onChange.splice(0)) resolve();
  }

  #changed(): Promise<void> {
    return new Promise((resolve) => this.#onChange.push(resolve));
  }
}

/** Stop a run by its id. */
export async function stopAt(requests: ApiClient, runId: string): Promise<StoppedRun> {
  try {
    const path = `/api/runs/${encodeURIComponent(runId)}/stop`;
    const body = fields(await readBody(await requests.request(path, { method: "POST" })));
    return { runId, stopped: body.stopped === true, status: text(body.status) };
  } catch (error) {
    throw errorOf(error);
  }
}

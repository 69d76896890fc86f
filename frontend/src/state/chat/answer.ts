// One answer. Each has a separate store, so that a token only renders its own panel again.

import { hasMetLimit, limitsIn } from "../../logic/answer/reachedLimit.ts";
import { isUsingTools } from "../../logic/answer/stops.ts";
import {
  isLoop,
  type StoredAnswer,
  storedTrace,
  withPageTimes,
  withSettledCost,
} from "../../logic/trace/conversationTrace.ts";
import { joinedTrace } from "../../logic/trace/joinedTrace.ts";
import { connectionLost, emptyTrace, refused, runReducer, stoppedLocally } from "../../logic/trace/reducer.ts";
import { withoutUnsaved } from "../../logic/trace/unsavedText.ts";
import { type ApiClient, stopRun } from "../../stream/client.ts";
import { ApiError, isRefusal } from "../../stream/errors.ts";
import type { Connection } from "../../stream/followRun.ts";
import { checkedEvent } from "../../stream/parseEvent.ts";
import { fetchRun } from "../../stream/runRecords.ts";
import {
  type ChatEnd,
  type ChatOptions,
  followRun,
  followSave,
  postChat,
  type Started,
} from "../../stream/runStream.ts";
import type { Effort, Parameters, RawEvent } from "../../types/api.ts";
import type { ChatBody, ChatEvent, RunEnd, RunTrace } from "../../types/models.ts";
import { SilenceTimer } from "../modelSilence.ts";
import { nextFrame, type Schedule, Store } from "../store.ts";
import { runsOf } from "./joinedAnswer.ts";

export interface AnswerState {
  trace: RunTrace;
  /**
   * What is loaded. `text`: only the conversation's data. `fetching`: its events are loading. `whole`: all events of
   * its run. `failed`: the events are not available.
   */
  known: "text" | "fetching" | "whole" | "failed";
  /** A stop was requested, and the run has not ended yet. */
  stopping: boolean;
  /** The stop request failed, so the run may continue. */
  stopFailed: boolean;
  /**
   * `resuming`: reconnecting for longer than `quietMs`. `polling`: other answers use all live streams. `waiting`: the
   * message is not sent until the server can be reached.
   */
  connection: Connection;
  /** When the last event and the last reasoning arrived, by the page's clock (`now`). Undefined for finished runs. */
  heardAt: number | undefined;
  reasonedAt: number | undefined;
  /** Since when the model has been silent for too long, by the page's clock. */
  silentSince: number | undefined;
  /** The limits that the request set. Undefined while unknown. */
  limits: Parameters | undefined;
}

export interface AnswerDeps {
  client: ApiClient;
  onUnauthorized?: () => void;
  /** Called when the run gets its id, changes its connection, or ends. */
  onChange?: (answer: Answer) => void;
  schedule?: Schedule;
  /** The page's clock in milliseconds. */
  now?: () => number;
  /** How long a stopped run may take to send its `done`. */
  stopGraceMs?: number;
  /** How long a stopped message keeps its connection to receive the id of its run. */
  unnamedMs?: number;
  stopDelays?: readonly number[];
  /** Shorter connection losses are not shown. */
  quietMs?: number;
  stream?: Partial<ChatOptions>;
}

export interface AnswerOptions {
  model: string;
  effort: Effort;
  /** Undefined until the server has sent it. */
  runId?: string;
  /** Read the events from this saved answer. */
  saveId?: string;
  /** The answer that this one continues. */
  continues?: Answer | undefined;
}

type SavedRunOptions = Pick<AnswerOptions, "model" | "continues"> & { runId: string };

const STOP_GRACE_MS = 2000;
const UNNAMED_MS = 8000;
/** Delays before each stop request. */
const STOP_DELAYS = [0, 500, 1000, 2000, 4000] as const;
const QUIET_MS = 1500;

let made = 0;

export class Answer extends Store<AnswerState> {
  /** Unique on this page. The run's id is in the trace. */
  readonly key: string;
  readonly effort: Effort;
  /** When the message was sent, by the page's clock. Undefined if that was before the page was loaded. */
  readonly askedAt: number | undefined;
  /** All events. The list grows in place: read it when the state changes. */
  readonly events: RawEvent[] = [];
  /** The request was sent, and its outcome is unknown. */
  isUnanswered = false;
  /** The request was rejected for its access token. */
  isUnauthorized = false;
  readonly continues: Answer | undefined;
  readonly #deps: AnswerDeps;
  readonly #now: () => number;
  readonly #saveId: string | undefined;
  #abort: AbortController | undefined;
  #grace: ReturnType<typeof setTimeout> | undefined;
  #away: ReturnType<typeof setTimeout> | undefined;
  readonly #silence = new SilenceTimer({
    now: () => this.#now(),
    isExcused: () =>
      this.isOver || this.state.stopping || this.state.connection === "waiting" || isUsingTools(this.state.trace),
    onSilence: (silentSince) => this.set({ silentSince }),
  });

  private constructor(
    deps: AnswerDeps,
    { model, effort, runId, saveId, continues }: AnswerOptions,
    stored?: StoredAnswer,
  ) {
    const trace = { ...emptyTrace(model), ...(runId && { runId }) };
    super(
      {
        trace: stored ? storedTrace(trace, stored) : trace,
        // Answers from another client's history have no events.
        known: stored?.run ? "text" : "whole",
        stopping: false,
        stopFailed: false,
        connection: "open",
        heardAt: undefined,
        reasonedAt: undefined,
        silentSince: undefined,
        limits: undefined,
      },
      deps.schedule ?? nextFrame,
    );
    this.#deps = deps;
    this.#now = deps.now ?? (() => performance.now());
    this.effort = effort;
    this.#saveId = saveId;
    this.continues = continues;
    made += 1;
    this.key = `answer-${made}`;
    this.askedAt = stored || runId ? undefined : this.#now();
  }

  /** Create an answer that is about to be requested. */
  static asked(deps: AnswerDeps, options: AnswerOptions): Answer {
    return new Answer(deps, options);
  }

  /** Create an answer from its conversation. `load` fetches its events. */
  static stored(deps: AnswerDeps, runId: string, stored: StoredAnswer, continues?: Answer): Answer {
    return new Answer(deps, { model: stored.run?.model ?? "", effort: "auto", runId, continues }, stored);
  }

  /** Create an answer whose request was rejected. */
  static refused(deps: AnswerDeps, options: AnswerOptions, end: (trace: RunTrace) => RunTrace): Answer {
    const answer = new Answer(deps, options);
    answer.#change(end);
    answer.flush();
    return answer;
  }

  /** Create an answer of a run of which only the id is known. */
  static named(deps: AnswerDeps, runId: string): Answer {
    return new Answer(deps, { model: "", effort: "auto", runId });
  }

  /** Create a saved answer whose events are not loaded yet. */
  static saved(deps: AnswerDeps, saveId: string, { runId, model, continues }: SavedRunOptions): Answer {
    return new Answer(deps, { model, effort: "auto", runId, saveId, continues });
  }

  /** Create an answer from all of its events. */
  static frozen(deps: AnswerDeps, { runId, model, continues }: SavedRunOptions, events: readonly RawEvent[]): Answer {
    const answer = new Answer(deps, { model, effort: "auto", runId, continues });
    for (const { seq, event } of events) {
      const known = checkedEvent(event);
      if (!known) continue;
      answer.#record(known, seq);
      answer.#change(() => runReducer(answer.#withoutUnsaved(known), known));
    }
    answer.flush();
    return answer;
  }

  get runId(): string {
    return this.state.trace.runId;
  }

  /** The trace of the whole answer, including the runs that it continues. */
  get whole(): RunTrace {
    return joinedTrace(runsOf(this).map(({ state }) => state.trace));
  }

  get isOver(): boolean {
    return this.state.trace.end !== undefined;
  }

  /** The server rejected the request, so there is no run. */
  get isRefused(): boolean {
    return !this.isUnanswered && !this.runId && this.state.trace.end?.status === "error";
  }

  /** The answer is being requested or followed. */
  get isLive(): boolean {
    return this.#abort !== undefined;
  }

  /** Another answer to the same message cannot reach the server, so this one waits too. */
  wait(): void {
    if (this.isLive || this.isOver) return;
    this.set({ connection: "waiting" });
    this.flush();
  }

  /** Send the request and follow the run to its end. `onStart` is called with the run's id. */
  async ask(body: ChatBody, key: string, onStart?: (started: Started) => void): Promise<void> {
    this.set({ connection: "open", limits: limitsIn({ ...body }) });
    await this.#follow((options) =>
      postChat(body, {
        ...options,
        key,
        onStart: (started) => {
          options.onStart?.(started);
          onStart?.(started);
          this.#deps.onChange?.(this);
        },
      }),
    );
  }

  /** Load all events, and follow a running run to its end. */
  async load(): Promise<void> {
    const { runId, model } = this.state.trace;
    if (this.isLive || !runId || (this.state.known === "whole" && this.isOver)) return;
    const before = this.state;
    let fresh = { ...emptyTrace(model), runId };
    this.events.length = 0;
    this.set({ known: "fetching" });
    // The current content stays until more than that is loaded.
    const saveId = this.#saveId;
    const follow = (options: ChatOptions) => (saveId ? followSave(saveId, options) : followRun(runId, options));
    await this.#follow((options) =>
      follow({
        ...options,
        onEvent: (event, seq) => {
          if (this.state.known !== "whole" && !before.trace.end) this.set({ trace: fresh, known: "whole" });
          if (this.state.known === "whole") return options.onEvent(event, seq);
          this.#record(event, seq);
          fresh = runReducer(fresh, event);
        },
      }).then((end) => {
        if (this.state.known === "whole") return end;
        const { totalMs } = before.trace;
        const timed = { ...(totalMs !== undefined && { totalMs }), ...fresh };
        if (end === "done") this.set({ trace: withSettledCost(before.trace.end, timed), known: "whole" });
        else this.set({ known: !before.trace.end ? "whole" : end === "aborted" ? before.known : "failed" });
        if (end === "lost" && this.events.length === 0 && !before.trace.end) return this.#checkExists(runId);
        return before.trace.end ? "done" : end;
      }),
    );
    await this.#loadLimits();
  }

  /** If the answer reached a limit, fetch the limits of its request. */
  async #loadLimits(): Promise<void> {
    if (this.state.limits || this.#saveId || !hasMetLimit(this.state.trace)) return;
    const record = await fetchRun(this.#deps.client, this.runId).catch(() => undefined);
    // If the server does not respond, the limits stay unknown and none is named.
    if (record) this.set({ limits: limitsIn(record.request) });
  }

  /** No event could be read. Throws if the run no longer exists. */
  async #checkExists(runId: string): Promise<ChatEnd> {
    const found = await fetchRun(this.#deps.client, runId).catch((error: unknown) => error);
    if (found instanceof ApiError && found.status === 404)
      throw new ApiError(404, "UNKNOWN_RUN", "This answer was not found. It may have been deleted.");
    return "lost";
  }

  /** Set the final cost, which is known some time after the run ended. */
  settle(cost: number): void {
    const { trace } = this.state;
    if (!trace.end?.cost_estimated) return;
    this.#change(() => withSettledCost({ status: trace.end?.status ?? "complete", cost }, trace));
  }

  /**
   * Stop the run on the server and keep the text so far. A run without an id is stopped as soon as it has one, because
   * the server may be working on it already.
   */
  async stop(): Promise<void> {
    if (this.isOver || this.state.stopping) return;
    const abort = this.#abort;
    if (!abort) return this.#endHere(stoppedLocally);
    if (this.state.connection === "waiting") return this.#endUnsent(abort);
    this.set({ stopping: true, stopFailed: false });
    this.flush();
    this.#deps.onChange?.(this);
    if (this.runId) await this.#stopOnServer(abort);
    else this.#grace = setTimeout(() => this.#endUnnamed(abort), this.#deps.stopGraceMs ?? STOP_GRACE_MS);
  }

  /** End an answer that was not requested because the server did not respond to another request. */
  giveUp(end: RunEnd | undefined): void {
    const { code = "CONNECTION_LOST", error = "Signalbox is not responding." } = end ?? {};
    this.#endHere((trace) => refused(trace, { code, message: error }));
  }

  #endHere(end: (trace: RunTrace) => RunTrace): void {
    this.#change(end);
    this.flush();
    this.#deps.onChange?.(this);
  }

  /** End an answer between two attempts to send its message. */
  #endUnsent(abort: AbortController): void {
    this.set({ connection: "open" });
    this.#endHere(stoppedLocally);
    abort.abort();
  }

  /** End an answer without a run id. Its connection is needed by others; the conversation shows what became of it. */
  #endUnnamed(abort: AbortController): void {
    this.#endHere(stoppedLocally);
    this.#grace = setTimeout(() => abort.abort(), this.#deps.unnamedMs ?? UNNAMED_MS);
  }

  /** Retry the stop request. The answer only counts as stopped once the server confirms it. */
  async #stopOnServer(abort: AbortController): Promise<void> {
    clearTimeout(this.#grace);
    for (const delay of this.#deps.stopDelays ?? STOP_DELAYS) {
      await new Promise((resolve) => setTimeout(resolve, delay));
      if (this.#abort !== abort || (this.isOver && !this.state.trace.end?.local)) return;
      if (!(await this.#isStopped())) continue;
      if (this.isOver) abort.abort();
      else this.#grace = setTimeout(() => abort.abort(), this.#deps.stopGraceMs ?? STOP_GRACE_MS);
      return;
    }
    this.set({ stopping: false, stopFailed: true });
    this.flush();
  }

  /** Request a stop. Returns whether the run is stopped or no longer exists. */
  async #isStopped(): Promise<boolean> {
    try {
      await stopRun(this.#deps.client, this.runId);
      return true;
    } catch (error) {
      return error instanceof ApiError && error.status === 404;
    }
  }

  /** Stop following. The run itself continues. */
  leave(): void {
    const abort = this.#abort;
    this.#abort = undefined;
    this.#silence.stop();
    abort?.abort();
  }

  async #follow(start: (options: ChatOptions) => Promise<ChatEnd>): Promise<void> {
    const abort = new AbortController();
    this.#abort = abort;
    this.#silence.restart();
    this.flush();
    try {
      const end = await start(this.#options(abort));
      if (this.#abort === abort) this.#finish(end);
    } catch (error) {
      if (this.#abort === abort) this.#refuse(error);
    } finally {
      clearTimeout(this.#grace);
      this.#reconnected();
      if (this.#abort === abort) {
        this.#silence.stop();
        this.#abort = undefined;
        this.set({ stopping: false });
        this.flush();
        this.#deps.onChange?.(this);
      }
    }
  }

  #options(abort: AbortController): ChatOptions {
    return {
      ...this.#deps.stream,
      client: this.#deps.client,
      signal: abort.signal,
      onStart: ({ runId, loop }) => {
        this.#change((trace) => ({ ...trace, runId, ...(isLoop(loop) && { loop }) }));
        if (this.state.stopping) void this.#stopOnServer(abort);
      },
      onEvent: (event, seq) => this.#add(event, seq),
      onConnection: (state) => {
        if (state === "resuming") this.#disconnected();
        else {
          const isNews = state === "waiting" && this.state.connection !== "waiting";
          this.#reconnected();
          this.#silence.restart();
          this.set({ connection: state });
          if (isNews) this.#deps.onChange?.(this);
        }
      },
    };
  }

  #add(event: ChatEvent, seq: number): void {
    const now = this.#now();
    this.#silence.restart();
    this.#record(event, seq);
    const trace = runReducer(this.#withoutUnsaved(event), event);
    this.set({
      trace: this.askedAt === undefined ? trace : withPageTimes(trace, now - this.askedAt),
      heardAt: now,
      ...(event.type === "reasoning" && { reasonedAt: now }),
    });
  }

  /** After a crash, `done` tells which earlier events were saved. */
  #withoutUnsaved(event: ChatEvent): RunTrace {
    const { trace } = this.state;
    return event.type === "done" && event.unsaved
      ? withoutUnsaved(trace, this.events.slice(0, -1), event.unsaved)
      : trace;
  }

  #record(event: ChatEvent, seq: number): void {
    this.events.push({ seq, event: event as unknown as RawEvent["event"] });
  }

  /** Short connection losses are not shown. */
  #disconnected(): void {
    this.#silence.stop();
    this.#away ??= setTimeout(() => this.set({ connection: "resuming" }), this.#deps.quietMs ?? QUIET_MS);
  }

  #reconnected(): void {
    clearTimeout(this.#away);
    this.#away = undefined;
    if (this.state.connection === "resuming") this.set({ connection: "open" });
  }

  #finish(end: ChatEnd): void {
    if (end === "done") return;
    this.#change(end === "aborted" ? stoppedLocally : connectionLost);
    const passed = this.askedAt === undefined ? undefined : this.#now() - this.askedAt;
    if (passed !== undefined) this.#change((trace) => ({ ...trace, totalMs: passed }));
  }

  #refuse(error: unknown): void {
    const reason = error instanceof ApiError ? error : new ApiError(0, "PAGE_ERROR", String(error));
    this.isUnanswered = !isRefusal(error);
    this.#change((trace) => refused(trace, reason));
    this.isUnauthorized = reason.status === 401;
    if (this.isUnauthorized) this.#deps.onUnauthorized?.();
  }

  #change(change: (trace: RunTrace) => RunTrace): void {
    this.set({ trace: change(this.state.trace) });
  }
}

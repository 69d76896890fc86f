// One answer. Each has a separate store, so that a token only renders its own panel again.

import type { Connection } from "@signalbox/client/requests";
import {
  ApiError,
  type ChatEnd,
  type ChatOptions,
  checkedEvent,
  expectRun,
  fetchRun,
  followRun,
  followSave,
  isRefusal,
  postChat,
  type Started,
} from "@signalbox/client/requests";
import { hasMetLimit, limitsIn } from "../../logic/answer/reachedLimit.ts";
import {
  isLoop,
  type StoredAnswer,
  storedTrace,
  withPageTimes,
  withSettledCost,
} from "../../logic/trace/conversationTrace.ts";
import { joinedTrace } from "../../logic/trace/joinedTrace.ts";
import { connectionLost, emptyTrace, refused, runReducer, stoppedLocally } from "../../logic/trace/reducer.ts";
import { nextTrace } from "../../logic/trace/unsavedText.ts";
import type { Effort, RawEvent } from "../../types/api.ts";
import type { ChatBody, ChatEvent, RunEnd, RunTrace } from "../../types/models.ts";
import { nextFrame, Store } from "../store.ts";
import {
  type AnswerDeps,
  type AnswerOptions,
  type AnswerState,
  isSilenceExcused,
  newAnswerState,
  type SavedRunOptions,
} from "./answerState.ts";
import { runsOf } from "./joinedAnswer.ts";
import { RunConnection } from "./runConnection.ts";
import { RunStop } from "./runStop.ts";

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
  readonly #connection: RunConnection;
  readonly #stop: RunStop;

  private constructor(
    deps: AnswerDeps,
    { model, effort, runId, saveId, continues }: AnswerOptions,
    stored?: StoredAnswer,
  ) {
    const trace = { ...emptyTrace(model), ...(runId && { runId }) };
    super(
      // Answers from another client's history have no events.
      newAnswerState(stored ? storedTrace(trace, stored) : trace, stored?.run ? "text" : "whole"),
      deps.schedule ?? nextFrame,
    );
    this.#deps = deps;
    this.#now = deps.now ?? (() => performance.now());
    this.#connection = new RunConnection({
      now: this.#now,
      quietMs: deps.quietMs ?? QUIET_MS,
      isExcused: () => isSilenceExcused(this.state),
      onSilence: (silentSince) => this.set({ silentSince }),
      onChange: (connection) => this.#setConnection(connection),
    });
    this.#stop = new RunStop(deps, {
      isOver: () => this.isOver,
      isNeeded: (abort) => this.#connection.abort === abort && (!this.isOver || this.state.trace.end?.local === true),
      end: () => this.#endHere(stoppedLocally),
      onFailed: () => {
        this.set({ stopping: false, stopFailed: true });
        this.flush();
      },
    });
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
      answer.#change((trace) => nextTrace(trace, answer.events, known));
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
    return this.#connection.abort !== undefined;
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
      }).then(async (end) => {
        if (this.state.known === "whole") return end;
        const { totalMs } = before.trace;
        const timed = { ...(totalMs !== undefined && { totalMs }), ...fresh };
        if (end === "done") this.set({ trace: withSettledCost(before.trace.end, timed), known: "whole" });
        else this.set({ known: !before.trace.end ? "whole" : end === "aborted" ? before.known : "failed" });
        if (end === "lost" && this.events.length === 0 && !before.trace.end) await expectRun(this.#deps.client, runId);
        return before.trace.end ? "done" : end;
      }),
    );
    if (!this.state.limits && !saveId && hasMetLimit(this.state.trace)) await this.#loadLimits();
  }

  /** Fetch the limits of its request. */
  async #loadLimits(): Promise<void> {
    const record = await fetchRun(this.#deps.client, this.runId).catch(() => undefined);
    // If the server does not respond, the limits stay unknown and none is named.
    if (record) this.set({ limits: limitsIn(record.request) });
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
    const { abort } = this.#connection;
    if (!abort) return this.#endHere(stoppedLocally);
    // Between two attempts to send its message.
    if (this.state.connection === "waiting") {
      this.set({ connection: "open" });
      this.#endHere(stoppedLocally);
      return abort.abort();
    }
    this.set({ stopping: true, stopFailed: false });
    this.flush();
    this.#deps.onChange?.(this);
    if (this.runId) await this.#stop.onServer(this.runId, abort);
    else this.#stop.withoutId(abort);
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

  /** Stop following. The run itself continues. */
  leave(): void {
    this.#connection.leave();
  }

  async #follow(start: (options: ChatOptions) => Promise<ChatEnd>): Promise<void> {
    const abort = this.#connection.open();
    this.flush();
    try {
      const end = await start(this.#options(abort));
      if (this.#connection.abort === abort) this.#finish(end);
    } catch (error) {
      if (this.#connection.abort === abort) this.#refuse(error);
    } finally {
      this.#stop.settled();
      if (this.#connection.close(abort)) {
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
        if (this.state.stopping) void this.#stop.onServer(runId, abort);
      },
      onEvent: (event, seq) => this.#add(event, seq),
      onConnection: (state) => this.#connection.change(state),
    };
  }

  #setConnection(connection: Connection): void {
    const isFirstWait = connection === "waiting" && this.state.connection !== "waiting";
    this.set({ connection });
    if (isFirstWait) this.#deps.onChange?.(this);
  }

  #add(event: ChatEvent, seq: number): void {
    const now = this.#now();
    this.#connection.heard();
    this.#record(event, seq);
    const trace = nextTrace(this.state.trace, this.events, event);
    this.set({
      trace: this.askedAt === undefined ? trace : withPageTimes(trace, now - this.askedAt),
      heardAt: now,
      ...(event.type === "reasoning" && { reasonedAt: now }),
    });
  }

  #record(event: ChatEvent, seq: number): void {
    this.events.push({ seq, event: event as unknown as RawEvent["event"] });
  }

  #finish(end: ChatEnd): void {
    if (end === "done") return;
    this.#change(end === "aborted" ? stoppedLocally : connectionLost);
    if (this.askedAt === undefined) return;
    const totalMs = this.#now() - this.askedAt;
    this.#change((trace) => ({ ...trace, totalMs }));
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

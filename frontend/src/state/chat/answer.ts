// One answer: its run as a separate store, so that a token re-renders only the panel that shows it.

import { hasMetLimit, limitsIn } from "../../run/answer/reachedLimit.ts";
import { isUsingTools } from "../../run/answer/stops.ts";
import { isLoop, measured, settledAs, type Told, toldTrace } from "../../run/trace/conversationTrace.ts";
import { joinedTrace } from "../../run/trace/joinedTrace.ts";
import { connectionLost, emptyTrace, refused, runReducer, stoppedLocally } from "../../run/trace/reducer.ts";
import { withoutUnsaved } from "../../run/trace/unsavedText.ts";
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
import { SilenceWatch } from "../modelSilence.ts";
import { nextFrame, type Schedule, Store } from "../store.ts";
import { chainOf } from "./joinedAnswer.ts";

export interface AnswerState {
  trace: RunTrace;
  /**
   * What is shown: `text`, only what the conversation tells of it; `whole`, its run's events from the first. `fetching`
   * stands between them, and `failed` where the events cannot be had.
   */
  known: "text" | "fetching" | "whole" | "failed";
  /** The stop was asked for, and its end has not come yet. */
  stopping: boolean;
  /** The server could not be told to stop: the run may go on. */
  stopFailed: boolean;
  /**
   * `resuming`: the connection dropped, for longer than a moment. `polling`: other answers have the live streams.
   * `waiting`: the question has not arrived, and is sent when the server can be reached.
   */
  connection: Connection;
  /** When the last event came, and the last reasoning, by the page's clock (`now`); undefined for what is over. */
  heardAt: number | undefined;
  reasonedAt: number | undefined;
  /** The model is silent for long: since when, by the page's clock. */
  silentSince: number | undefined;
  /** The limits that its request set; undefined while that is not known. */
  limits: Parameters | undefined;
}

export interface AnswerDeps {
  client: ApiClient;
  onUnauthorized?: () => void;
  /** Something that is worth keeping or telling has happened: it has a name, or it is over. */
  onChange?: (answer: Answer) => void;
  schedule?: Schedule;
  /** The page's clock in milliseconds. */
  now?: () => number;
  /** How long a stopped run may take to say its own end. */
  stopGraceMs?: number;
  /** How long a stopped question may keep its connection to learn the name of its run. */
  unnamedMs?: number;
  stopDelays?: readonly number[];
  /** A connection that is back within this time was never away. */
  quietMs?: number;
  stream?: Partial<ChatOptions>;
}

export interface AnswerOptions {
  model: string;
  effort: Effort;
  /** Undefined while the server has not named it. */
  runId?: string;
  /** Its events are read from this frozen copy. */
  saveId?: string;
  /** The answer that it goes on with. */
  continues?: Answer | undefined;
}

type Kept = Pick<AnswerOptions, "model" | "continues"> & { runId: string };

const STOP_GRACE_MS = 2000;
const UNNAMED_MS = 8000;
/** Waits before each attempt to have a run stopped. */
const STOP_DELAYS = [0, 500, 1000, 2000, 4000] as const;
const QUIET_MS = 1500;

let made = 0;

export class Answer extends Store<AnswerState> {
  /** Of this page; the run's id is in the trace. */
  readonly key: string;
  readonly effort: Effort;
  /** When it was asked, by the page's clock; undefined where that was before the page was loaded. */
  readonly askedAt: number | undefined;
  /** Every event as it came. It grows in place: read it when the state changes. */
  readonly events: RawEvent[] = [];
  /** It was requested, and it is not known whether the request arrived. */
  isUnanswered = false;
  /** It was asked for without a token that the server takes. */
  isUnauthorized = false;
  readonly continues: Answer | undefined;
  readonly #deps: AnswerDeps;
  readonly #now: () => number;
  readonly #saveId: string | undefined;
  #abort: AbortController | undefined;
  #grace: ReturnType<typeof setTimeout> | undefined;
  #away: ReturnType<typeof setTimeout> | undefined;
  readonly #silence = new SilenceWatch({
    now: () => this.#now(),
    isExcused: () =>
      this.isOver || this.state.stopping || this.state.connection === "waiting" || isUsingTools(this.state.trace),
    onSilence: (silentSince) => this.set({ silentSince }),
  });

  private constructor(deps: AnswerDeps, { model, effort, runId, saveId, continues }: AnswerOptions, told?: Told) {
    const trace = { ...emptyTrace(model), ...(runId && { runId }) };
    super(
      {
        trace: told ? toldTrace(trace, told) : trace,
        // What another client told as its history has no events.
        known: told?.run ? "text" : "whole",
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
    this.askedAt = told || runId ? undefined : this.#now();
  }

  /** An answer that is about to be asked for. */
  static asked(deps: AnswerDeps, options: AnswerOptions): Answer {
    return new Answer(deps, options);
  }

  /** An answer as its conversation tells it; `load` brings the rest. */
  static told(deps: AnswerDeps, runId: string, told: Told, continues?: Answer): Answer {
    return new Answer(deps, { model: told.run?.model ?? "", effort: "auto", runId, continues }, told);
  }

  /** An answer that never came to be. */
  static refused(deps: AnswerDeps, options: AnswerOptions, end: (trace: RunTrace) => RunTrace): Answer {
    const answer = new Answer(deps, options);
    answer.#change(end);
    answer.flush();
    return answer;
  }

  /** A run of which only the name is known. */
  static named(deps: AnswerDeps, runId: string): Answer {
    return new Answer(deps, { model: "", effort: "auto", runId });
  }

  /** A frozen copy of a run, whose events are still to be read. */
  static kept(deps: AnswerDeps, saveId: string, { runId, model, continues }: Kept): Answer {
    return new Answer(deps, { model, effort: "auto", runId, saveId, continues });
  }

  /** A run of which all events are here. */
  static frozen(deps: AnswerDeps, { runId, model, continues }: Kept, events: readonly RawEvent[]): Answer {
    const answer = new Answer(deps, { model, effort: "auto", runId, continues });
    for (const { seq, event } of events) {
      const known = checkedEvent(event);
      if (!known) continue;
      answer.#keep(known, seq);
      answer.#change(() => runReducer(answer.#saved(known), known));
    }
    answer.flush();
    return answer;
  }

  get runId(): string {
    return this.state.trace.runId;
  }

  /** The whole answer, with every run that it continues. */
  get whole(): RunTrace {
    return joinedTrace(chainOf(this).map(({ state }) => state.trace));
  }

  get isOver(): boolean {
    return this.state.trace.end !== undefined;
  }

  /** The server has answered, and there is no run. */
  get isRefused(): boolean {
    return !this.isUnanswered && !this.runId && this.state.trace.end?.status === "error";
  }

  /** It is being asked or followed. */
  get isLive(): boolean {
    return this.#abort !== undefined;
  }

  /** It is asked for after another answer to the same question, which cannot reach the server. */
  waitToo(): void {
    if (this.isLive || this.isOver) return;
    this.set({ connection: "waiting" });
    this.flush();
  }

  /** Ask, and follow the run to its end. `onStart` is told as soon as the server has named it. */
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

  /** Bring all of its events, and follow it to its end where it has none yet. */
  async load(): Promise<void> {
    const { runId, model } = this.state.trace;
    if (this.isLive || !runId || (this.state.known === "whole" && this.isOver)) return;
    const before = this.state;
    let fresh = { ...emptyTrace(model), runId };
    this.events.length = 0;
    this.set({ known: "fetching" });
    // What is shown stays until there is more than that.
    const saveId = this.#saveId;
    const follow = (options: ChatOptions) => (saveId ? followSave(saveId, options) : followRun(runId, options));
    await this.#follow((options) =>
      follow({
        ...options,
        onEvent: (event, seq) => {
          if (this.state.known !== "whole" && !before.trace.end) this.set({ trace: fresh, known: "whole" });
          if (this.state.known === "whole") return options.onEvent(event, seq);
          this.#keep(event, seq);
          fresh = runReducer(fresh, event);
        },
      }).then((end) => {
        if (this.state.known === "whole") return end;
        const { totalMs } = before.trace;
        const timed = { ...(totalMs !== undefined && { totalMs }), ...fresh };
        if (end === "done") this.set({ trace: settledAs(before.trace.end, timed), known: "whole" });
        else this.set({ known: !before.trace.end ? "whole" : end === "aborted" ? before.known : "failed" });
        if (end === "lost" && this.events.length === 0 && !before.trace.end) return this.#lookFor(runId);
        return before.trace.end ? "done" : end;
      }),
    );
    await this.#learnLimits();
  }

  /** An answer that has met a limit is told what its request had set. */
  async #learnLimits(): Promise<void> {
    if (this.state.limits || this.#saveId || !hasMetLimit(this.state.trace)) return;
    const record = await fetchRun(this.#deps.client, this.runId).catch(() => undefined);
    // A server that does not answer leaves it unknown, and no limit is named.
    if (record) this.set({ limits: limitsIn(record.request) });
  }

  /** Nothing of it could be read: is it gone, or only the line? */
  async #lookFor(runId: string): Promise<ChatEnd> {
    const found = await fetchRun(this.#deps.client, runId).catch((error: unknown) => error);
    if (found instanceof ApiError && found.status === 404)
      throw new ApiError(404, "UNKNOWN_RUN", "This answer was not found. It may have been deleted.");
    return "lost";
  }

  /** What a stopped run has cost is known some time after its end. */
  settle(cost: number): void {
    const { trace } = this.state;
    if (!trace.end?.cost_estimated) return;
    this.#change(() => settledAs({ status: trace.end?.status ?? "complete", cost }, trace));
  }

  /**
   * End the run: the server stops it and says how it ended; what came is kept. A run that has no name yet is stopped as
   * soon as it has one: the server may be at work on it already.
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

  /** It was not requested, since the server did not answer the request for another one. */
  giveUp(end: RunEnd | undefined): void {
    const { code = "CONNECTION_LOST", error = "Signalbox is not responding." } = end ?? {};
    this.#endHere((trace) => refused(trace, { code, message: error }));
  }

  #endHere(end: (trace: RunTrace) => RunTrace): void {
    this.#change(end);
    this.flush();
    this.#deps.onChange?.(this);
  }

  /** The question is between two attempts: without another one it never arrives. */
  #endUnsent(abort: AbortController): void {
    this.set({ connection: "open" });
    this.#endHere(stoppedLocally);
    abort.abort();
  }

  /** Its connection is needed by others. What became of it is told by its conversation. */
  #endUnnamed(abort: AbortController): void {
    this.#endHere(stoppedLocally);
    this.#grace = setTimeout(() => abort.abort(), this.#deps.unnamedMs ?? UNNAMED_MS);
  }

  /** Nothing is called stopped that the server has not stopped. */
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

  /** A run that the server does not know any more is none that goes on. */
  async #isStopped(): Promise<boolean> {
    try {
      await stopRun(this.#deps.client, this.runId);
      return true;
    } catch (error) {
      return error instanceof ApiError && error.status === 404;
    }
  }

  /** Stop following; the run itself goes on. */
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
      this.#back();
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
      onEvent: (event, seq) => this.#take(event, seq),
      onConnection: (state) => {
        if (state === "resuming") this.#gone();
        else {
          const isNews = state === "waiting" && this.state.connection !== "waiting";
          this.#back();
          this.#silence.restart();
          this.set({ connection: state });
          if (isNews) this.#deps.onChange?.(this);
        }
      },
    };
  }

  #take(event: ChatEvent, seq: number): void {
    const now = this.#now();
    this.#silence.restart();
    this.#keep(event, seq);
    const trace = runReducer(this.#saved(event), event);
    this.set({
      trace: this.askedAt === undefined ? trace : measured(trace, now - this.askedAt),
      heardAt: now,
      ...(event.type === "reasoning" && { reasonedAt: now }),
    });
  }

  /** The end of a run that a crash cut says which of the events that came before it were saved. */
  #saved(event: ChatEvent): RunTrace {
    const { trace } = this.state;
    return event.type === "done" && event.unsaved
      ? withoutUnsaved(trace, this.events.slice(0, -1), event.unsaved)
      : trace;
  }

  #keep(event: ChatEvent, seq: number): void {
    this.events.push({ seq, event: event as unknown as RawEvent["event"] });
  }

  /** A drop that is mended at once needs no word. */
  #gone(): void {
    this.#silence.stop();
    this.#away ??= setTimeout(() => this.set({ connection: "resuming" }), this.#deps.quietMs ?? QUIET_MS);
  }

  #back(): void {
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

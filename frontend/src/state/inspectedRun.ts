// The data of the run inspector: events, record, and the server's clock.

import type { ApiClient } from "@signalbox/client/requests";
import {
  ApiError,
  type ChatOptions,
  fetchConversation,
  fetchRun,
  fetchTools,
  followRun,
} from "@signalbox/client/requests";
import { useEffect, useMemo } from "react";
import { settingsOf, systemOfRun } from "../logic/inspector/runFacts.ts";
import { hasEnded } from "../logic/inspector/waterfall.ts";
import { emptyTrace, runReducer } from "../logic/trace/reducer.ts";
import type { RawEvent, RequestSettings, RunRecord } from "../types/api.ts";
import type { RunTrace } from "../types/models.ts";
import type { Answer } from "./answer/answer.ts";
import { type Schedule, Store, useStore } from "./store.ts";

export type { ApiClient };

export interface InspectedRunState {
  /** Undefined until the first event has arrived. */
  trace: RunTrace | undefined;
  /** All events in order. The list is replaced when it grows. */
  events: readonly RawEvent[];
  eventsAre: "fetching" | "here" | "failed";
  record: RunRecord | undefined;
  /** `gone`: the server does not know the run. */
  recordIs: "asked" | "known" | "gone" | "failed";
  /** The error, as a sentence. */
  trouble: string | undefined;
  /** The server's clock in epoch milliseconds, estimated from events. */
  now: number;
}

export interface InspectedRunDeps {
  now?: () => number;
  schedule?: Schedule;
  stream?: Partial<ChatOptions>;
}

/** How often a growing answer is read. The timeline need not change 60 times a second. */
const LOOK_MS = 250;
const POLL_MS = 4000;
/** The server fetches the cost of a stopped run for two minutes. */
const SETTLE_POLL_MS = 15_000;
const SETTLE_MS = 150_000;

export class InspectedRun extends Store<InspectedRunState> {
  readonly #client: ApiClient;
  readonly #runId: string;
  readonly #live: Answer | undefined;
  readonly #deps: InspectedRunDeps;
  readonly #now: () => number;
  #abort = new AbortController();
  /** Events fetched by the inspector if the page has none. */
  #fetched: { trace: RunTrace; events: RawEvent[] } | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #askedAt = 0;
  #overAt: number | undefined;
  #heardAt: number | undefined;
  #skew: number | undefined;

  constructor(client: ApiClient, runId: string, live: Answer | undefined, deps: InspectedRunDeps = {}) {
    const now = deps.now ?? Date.now;
    super(
      {
        trace: live?.state.trace,
        events: [],
        eventsAre: "fetching",
        record: undefined,
        recordIs: "asked",
        trouble: undefined,
        now: now(),
      },
      deps.schedule,
    );
    this.#client = client;
    this.#runId = runId;
    this.#live = live;
    this.#deps = deps;
    this.#now = now;
  }

  /** Refresh until the result is called. */
  start(): () => void {
    this.#abort = new AbortController();
    const leave = this.#live?.subscribe(() => this.#timer ?? this.#refresh());
    void this.#fetchRecord();
    this.#refresh();
    return () => {
      leave?.();
      this.#abort.abort();
      this.#fetched = undefined;
      clearTimeout(this.#timer);
      this.#timer = undefined;
    };
  }

  /** Retry what failed. */
  readonly retry = (): void => {
    if (this.state.eventsAre === "failed") this.#fetched = undefined;
    this.set({ recordIs: this.state.record ? "known" : "asked", trouble: undefined });
    void this.#fetchRecord();
    this.#refresh();
  };

  /** Update the state, and schedule the next update as long as more may come. */
  #refresh(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#abort.signal.aborted) return;
    const wasOver = this.#overAt !== undefined;
    this.#update();
    const { trace, record } = this.state;
    const isOver = hasEnded(trace, record);
    if (isOver) this.#overAt ??= this.#now();
    const wait = isOver ? this.#settleWait() : POLL_MS;
    // The record of a run changes when it ends.
    const isDue =
      (isOver && !wasOver && record?.status === "running") ||
      (wait !== undefined && this.#now() - this.#askedAt >= wait);
    if (isDue && this.state.recordIs !== "gone") void this.#fetchRecord();
    if (!isOver || this.state.eventsAre === "fetching") this.#refreshIn(LOOK_MS);
    else if (wait !== undefined) this.#refreshIn(wait);
  }

  #refreshIn(ms: number): void {
    this.#timer = setTimeout(() => this.#refresh(), ms);
  }

  /** The delay until the final cost is fetched again. Undefined if it is final. */
  #settleWait(): number | undefined {
    const { record } = this.state;
    if (record?.status === "running" && this.state.recordIs === "known") return POLL_MS;
    const owed = record?.costEstimated === true && record.settledAt === undefined;
    return owed && this.#now() - (this.#overAt ?? 0) < SETTLE_MS ? SETTLE_POLL_MS : undefined;
  }

  #update(): void {
    const live = this.#live;
    const isWhole = live?.state.known === "whole";
    // The page is loading the events already.
    if (!isWhole && live?.state.known !== "fetching" && !this.#fetched && this.#runId) void this.#fetchEvents();
    const source = isWhole ? { trace: live.state.trace, events: live.events } : this.#fetched;
    const events = source?.events ?? [];
    const trace = source && source.events.length > 0 ? source.trace : (live?.state.trace ?? source?.trace);
    this.set({
      ...(isWhole && { eventsAre: "here" as const }),
      ...(trace && { trace }),
      ...(events.length !== this.state.events.length && { events: withNumbers(events) }),
      now: this.#clock(source?.trace.lastAt),
    });
  }

  /** The server's clock: the smallest observed difference between arrival and event time. */
  #clock(lastAt: number | undefined): number {
    const now = this.#now();
    if (lastAt !== undefined && lastAt !== this.#heardAt) {
      this.#heardAt = lastAt;
      this.#skew = Math.min(this.#skew ?? Infinity, now - lastAt);
    }
    return now - (this.#skew ?? 0);
  }

  async #fetchEvents(): Promise<void> {
    const own = {
      trace: { ...emptyTrace(this.#live?.state.trace.model ?? ""), runId: this.#runId },
      events: [] as RawEvent[],
    };
    this.#fetched = own;
    this.set({ eventsAre: "fetching" });
    const { signal } = this.#abort;
    const onEvent: ChatOptions["onEvent"] = (event, seq) => {
      own.events.push({ seq, event: event as unknown as RawEvent["event"] });
      own.trace = runReducer(own.trace, event);
    };
    const end = await followRun(this.#runId, { ...this.#deps.stream, client: this.#client, signal, onEvent }).catch(
      () => "lost",
    );
    if (signal.aborted || this.#fetched !== own) return;
    this.set({ eventsAre: end === "done" ? "here" : "failed" });
    this.#refresh();
  }

  async #fetchRecord(): Promise<void> {
    this.#askedAt = this.#now();
    // The run has no id yet.
    if (!this.#runId) return;
    const { signal } = this.#abort;
    try {
      const record = await fetchRun(this.#client, this.#runId, { signal });
      if (!signal.aborted) this.set({ record, recordIs: "known", trouble: undefined });
    } catch (error) {
      if (signal.aborted) return;
      const isGone = error instanceof ApiError && error.status === 404;
      const trouble = error instanceof ApiError ? error.message : "The server sent an unreadable response.";
      if (isGone) this.set({ recordIs: "gone", trouble: undefined });
      else this.set({ recordIs: "failed", trouble });
    }
    this.#refresh();
  }
}

/** A copy of the list. If the server sends no numbers, the events are counted. */
const withNumbers = (events: readonly RawEvent[]): readonly RawEvent[] =>
  events[0]?.seq === 0 ? events.map(({ event }, index) => ({ seq: index + 1, event })) : events.slice();

export function useInspectedRun(client: ApiClient, runId: string, live: Answer | undefined) {
  const inspection = useMemo(() => new InspectedRun(client, runId, live), [client, runId, live]);
  useEffect(() => inspection.start(), [inspection]);
  return { ...useStore(inspection), retry: inspection.retry };
}

/**
 * The run's request settings for the next message. Undefined if the list of tools is not available. Without `system` if
 * the system prompt is unknown: records do not contain it, and the conversation may be deleted.
 */
export async function restoredSettings(
  client: ApiClient,
  record: RunRecord,
): Promise<Partial<RequestSettings> | undefined> {
  const [asked, system] = await Promise.all([askedWith(client, record), systemOf(client, record)]);
  return asked && { ...asked, ...(system !== undefined && { system }) };
}

async function systemOf(client: ApiClient, { conversationId, runId }: RunRecord): Promise<string | undefined> {
  if (conversationId === undefined) return undefined;
  try {
    return systemOfRun((await fetchConversation(client, conversationId)).nodes, runId);
  } catch {
    return undefined;
  }
}

async function askedWith(client: ApiClient, record: RunRecord): Promise<Partial<RequestSettings> | undefined> {
  if (!Array.isArray(record.request.tools)) return settingsOf(record, []);
  try {
    const { tools } = await fetchTools(client);
    return settingsOf(record, tools);
  } catch {
    return undefined;
  }
}

// Starts a run by sending a message, or joins a run by its id, and follows it to its end.

import { leave, requestEvents } from "./client.ts";
import { browserSlots, browserTurn, type Release } from "./connectionSlots.ts";
import { ApiError, foreign } from "./errors.ts";
import { type FollowEnd, type FollowOptions, RunFollower } from "./followRun.ts";
import { newIdempotencyKey } from "./idempotencyKeys.ts";
import { browserPage, sleep } from "./sleep.ts";

/** The response headers of a new run. Empty strings if missing. */
export interface Started {
  runId: string;
  loop: string;
  conversationId: string;
  /** The message that the run answers. */
  messageId: string;
}

export interface ChatHandlers extends Pick<FollowOptions, "onEvent" | "onConnection"> {
  /** Called with the run's id, before its events. */
  onStart?(started: Started): void;
}

export interface ChatOptions extends FollowOptions, ChatHandlers {
  /**
   * The Idempotency-Key. If the message is sent again with the same key, the server responds with the run that it has
   * started.
   */
  key?: string;
  /** Delays before an unconfirmed message is sent again. */
  askDelays?: readonly number[];
  /** Further delays while the server cannot be reached. The last one repeats. Empty: give up. */
  lineDelays?: readonly number[];
  /** Also send the message again after a temporary rejection, if its `retry-after` is at most this long. */
  patienceMs?: number;
  /** The time limit for the response headers. Uploading has a separate limit. */
  headMs?: number;
}

export type ChatEnd = FollowEnd;

const ASK_DELAYS = [500, 1000, 2000] as const;
export const LINE_DELAYS = [2000, 4000, 8000, 15_000] as const;
const HEAD_MS = 30_000;
/** A slow connection may need a second per this many characters, for messages with images. */
const SENT_PER_SECOND = 32_000;

/**
 * Start a run and follow it to its end. Throws ApiError if the run did not start or the token was rejected. A message
 * without a response is sent again with the same key, so it is executed once.
 */
export function postChat(body: object, options: ChatOptions): Promise<ChatEnd> {
  return unlessAborted(options.signal, async () => {
    const slot = await (options.slots ?? browserSlots).acquire(options.signal);
    try {
      const response = await ask(JSON.stringify(body), options, slot);
      const started = startedBy(response);
      options.onStart?.(started);
      const follower = new RunFollower(eventsOf(started.runId), options, slot);
      return await follower.follow(slot ? response : undefined);
    } finally {
      slot?.();
    }
  });
}

/** Follow an existing run from its first event to its end. */
export function followRun(runId: string, options: ChatOptions): Promise<ChatEnd> {
  return unlessAborted(options.signal, () => new RunFollower(eventsOf(runId), options).follow());
}

/** Read the events of a saved answer. All of them exist, so this uses a short request instead of a stream slot. */
export function followSave(saveId: string, options: ChatOptions): Promise<ChatEnd> {
  return unlessAborted(options.signal, async () => {
    const turn = await (options.turn ?? browserTurn)(options.signal);
    return new RunFollower(`/api/saves/${encodeURIComponent(saveId)}/events`, options, turn).follow();
  });
}

const eventsOf = (runId: string): string => `/api/runs/${encodeURIComponent(runId)}/events`;

function startedBy({ headers }: Response): Started {
  const header = (name: string) => headers.get(name) ?? "";
  return {
    runId: header("x-run-id"),
    loop: header("x-tool-loop"),
    conversationId: header("x-conversation-id"),
    messageId: header("x-message-id"),
  };
}

async function ask(body: string, options: ChatOptions, slot: Release | undefined): Promise<Response> {
  const { signal, key = newIdempotencyKey() } = options;
  const headers = { "content-type": "application/json", accept: "text/event-stream", "idempotency-key": key };
  const request: Asking = { method: "POST", headers, body, signal };
  const { askDelays = ASK_DELAYS, lineDelays = LINE_DELAYS } = options;
  for (let attempt = 0; ; attempt++) {
    try {
      const response = await (slot ? post(options, request) : postBriefly(options, request));
      if (attempt > 0) options.onConnection?.("open");
      return response;
    } catch (error) {
      const waitMs = retryMs(error, options.patienceMs);
      if (!isUnanswered(error) && waitMs === undefined) throw error;
      const quick = isOffline(options) ? undefined : askDelays[attempt];
      const longer = Math.min(Math.max(attempt - askDelays.length, 0), lineDelays.length - 1);
      const delay = quick ?? (isUnreachable(error) ? lineDelays[longer] : undefined);
      if (delay === undefined) throw error;
      options.onConnection?.(quick === undefined ? "waiting" : "resuming");
      if (waitMs) await sleep(Math.max(waitMs, delay), signal);
      else await sleep(delay, signal, options.page ?? browserPage);
    }
  }
}

type Asking = RequestInit & { body: string; signal: AbortSignal };

/** Chromium accepts incomplete response headers. Without the run's id they are not complete. */
async function post({ client, headMs = HEAD_MS }: ChatOptions, request: Asking): Promise<Response> {
  const sendMs = Math.floor(request.body.length / SENT_PER_SECOND) * 1000;
  const response = await requestEvents(client, "/api/chat/stream", request, headMs + sendMs);
  if (startedBy(response).runId) return response;
  leave(response);
  throw foreign();
}

/** All streams are in use: keep the connection only until the run has an id. The run continues without it. */
async function postBriefly(options: ChatOptions, request: Asking): Promise<Response> {
  const release = await (options.turn ?? browserTurn)(options.signal);
  try {
    const response = await post(options, request);
    await response.body?.cancel().catch(() => undefined);
    return response;
  } finally {
    release();
  }
}

/** Whether the outcome is unknown: Signalbox did not respond, or a proxy got no response. */
const isUnanswered = (error: unknown): boolean => error instanceof ApiError && [0, 502, 504].includes(error.status);

/** The statuses after which the same request may succeed. */
const TEMPORARY: readonly number[] = [408, 425, 429, 503];

/** The least delay before a rejected message is sent again. Undefined if that is of no use, or if it takes too long. */
function retryMs(error: unknown, patienceMs = -1): number | undefined {
  if (!(error instanceof ApiError) || (!TEMPORARY.includes(error.status) && error.retryAfter === undefined)) return;
  const waitMs = (error.retryAfter ?? 0) * 1000;
  return waitMs <= patienceMs ? waitMs : undefined;
}

/** Whether there was no response at all. */
const isUnreachable = (error: unknown): boolean => error instanceof ApiError && error.code === "SERVER_UNREACHABLE";

const isOffline = ({ page = browserPage, lineDelays = LINE_DELAYS }: ChatOptions): boolean =>
  lineDelays.length > 0 && page.isOffline();

async function unlessAborted(signal: AbortSignal, follow: () => Promise<ChatEnd>): Promise<ChatEnd> {
  try {
    return await follow();
  } catch (error) {
    if (signal.aborted) return "aborted";
    throw error;
  }
}

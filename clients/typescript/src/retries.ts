// When a failed request is sent again.
import { notSignalbox } from "./otherServers.ts";
import { type ApiClient, isEvents, leave } from "./requests/client.ts";
import { ApiError, unreachable } from "./requests/errors.ts";
import { sleep } from "./requests/sleep.ts";
import { errorOf, isTemporary, SignalboxError } from "./signalboxErrors.ts";

/** Delays in milliseconds. A delay is at least the response's `retry-after`, and has jitter. */
export interface Backoff {
  /** The client gives up after this many failures in a row. */
  attempts: number;
  /** If no connection can be made, it gives up after this many. A stream that has begun is resumed with all `attempts`. */
  connectAttempts: number;
  /** The first delay. Each further one is twice as long. */
  firstMs: number;
  longestMs: number;
  /** The client gives up if `retry-after` is longer. */
  patienceMs: number;
}

export const BACKOFF: Backoff = {
  attempts: 10,
  connectAttempts: 5,
  firstMs: 250,
  longestMs: 10_000,
  patienceMs: 60_000,
};

/** The time limit of one attempt. */
const ANSWER_MS = 60_000;

/** The delays before all further attempts. */
export const delaysOf = ({ attempts, firstMs, longestMs }: Backoff): number[] =>
  Array.from(
    { length: attempts - 1 },
    (_, failures) => Math.min(firstMs * 2 ** failures, longestMs) * (1 + Math.random()),
  );

type Send = (client: ApiClient, path: string, init: RequestInit, signal?: AbortSignal) => Promise<Response>;

/** A client that sends requests again that may succeed. By default, it reads each response to its end. */
export function retrying(
  client: ApiClient,
  backoff: Backoff,
  signal?: AbortSignal,
  send: Send = sendAndRead,
): ApiClient {
  return {
    async request(path, init = {}) {
      const delays = delaysOf(backoff);
      let isUncertain = false;
      for (let failures = 0; ; failures++) {
        try {
          return await send(client, path, init, signal);
        } catch (error) {
          if (!(error instanceof ApiError)) throw error;
          // The first request had an effect, but its response was lost.
          if (isUncertain && init.method === "DELETE" && error.status === 404) return new Response("{}");
          isUncertain ||= [0, 502, 504].includes(error.status);
          const delay = delays[failures];
          const waitMs = (error.retryAfter ?? 0) * 1000;
          const isHopeless = !isTemporary(error.status) && error.retryAfter === undefined;
          const isAway = isUnreachable(error) && failures + 1 >= backoff.connectAttempts;
          if (isHopeless || isAway || delay === undefined || waitMs > backoff.patienceMs) throw error;
          if (isUncertain && !isRepeatable(path, init)) throw error;
          await sleep(Math.max(waitMs, delay), signal ?? new AbortController().signal);
        }
      }
    },
  };
}

const isUnreachable = (error: unknown): boolean => error instanceof ApiError && error.code === "SERVER_UNREACHABLE";

/**
 * A client for the streams of one run. Each request is sent once. It gives up at the first response of another server, and
 * sooner if the server cannot be reached; but a run that has begun may wait for the restart of its server.
 */
export function streaming(client: ApiClient, { connectAttempts }: Backoff): ApiClient {
  let failures = 0;
  return {
    async request(path, init) {
      try {
        const response = await client.request(path, init);
        if (!isEvents(response)) {
          leave(response);
          throw notSignalbox(response.url || path, response);
        }
        failures = Number.NEGATIVE_INFINITY;
        return response;
      } catch (error) {
        if (isUnreachable(error)) failures += 1;
        throw failures >= connectAttempts ? errorOf(error) : error;
      }
    },
  };
}

/** Each request for a save makes another save, and each change of a file another version. */
const isRepeatable = (path: string, { method = "GET" }: RequestInit): boolean =>
  method === "GET" || !/^\/api\/(saves$|conversations\/[^/]+\/file)/.test(path);

/** Send a request once, and read its response to the end. */
const sendAndRead: Send = (client, path, init, signal) =>
  inTime(signal, async (either) => {
    const response = await client.request(path, { ...init, signal: either });
    const body = await response.arrayBuffer();
    const { status, headers } = response;
    return new Response(status === 204 ? null : body, { status, headers });
  });

/** Send a request once. The body of its response may take any time. */
export const sendUnread: Send = (client, path, init, signal) =>
  inTime(signal, (either) => client.request(path, { ...init, signal: either }));

/** A server that is silent for too long is unreachable. */
async function inTime<T>(signal: AbortSignal | undefined, send: (either: AbortSignal) => Promise<T>): Promise<T> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), ANSWER_MS);
  try {
    return await send(signal ? AbortSignal.any([signal, late.signal]) : late.signal);
  } catch (error) {
    if (error instanceof ApiError || error instanceof SignalboxError) throw error;
    signal?.throwIfAborted();
    throw unreachable();
  } finally {
    clearTimeout(timer);
  }
}

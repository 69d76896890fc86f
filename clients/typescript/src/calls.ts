// How the parts of the class Signalbox send requests.
import type { ApiClient } from "./requests/client.ts";
import { ApiError, unreachable } from "./requests/errors.ts";
import { type Json, jsonLines } from "./requests/jsonFields.ts";
import type { Run, RunContext } from "./run.ts";
import { errorOf, SignalboxError } from "./signalboxErrors.ts";

export interface CallOptions {
  /** Aborts the call. The call rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
}

/** Sends short requests, with retries and typed errors. */
export type Call = <T>(options: CallOptions, send: (client: ApiClient) => Promise<T>) => Promise<T>;
/** Reads a response of JSON lines while it arrives. Only its head is requested again. */
export type Lines = (options: CallOptions, path: string) => AsyncGenerator<Json>;
type Follow = ConstructorParameters<typeof Run>[1];
export type Open = (context: Pick<RunContext, "stopsOnLeaving" | "signal" | "id">, follow: Follow) => Run;

/** The JSON objects of an NDJSON response, with typed errors. */
export async function* readLines(response: Promise<Response>, signal?: AbortSignal): AsyncGenerator<Json> {
  try {
    yield* jsonLines(await response);
  } catch (error) {
    signal?.throwIfAborted();
    const isKnown = error instanceof ApiError || error instanceof SignalboxError;
    throw errorOf(isKnown ? error : Object.assign(unreachable(), { cause: error }));
  }
}

/** The number of entries that are requested at a time. */
export const PAGE = 100;

export async function* pages<Line>(
  fetchPage: (before: string | undefined) => Promise<{ lines: readonly Line[]; next: string | undefined }>,
): AsyncGenerator<Line> {
  let before: string | undefined;
  do {
    const { lines, next } = await fetchPage(before);
    yield* lines;
    before = next;
  } while (before !== undefined);
}

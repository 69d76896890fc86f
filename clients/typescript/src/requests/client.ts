// Basic API requests, with the access token if one is set.

import type { Readiness } from "../types/api.ts";
import { type ApiError, foreign, readApiError, unreachable } from "./errors.ts";

export interface ApiClient {
  /**
   * Sends a request. Throws ApiError if the status is not 2xx or there is no response. An abort is rethrown as it is.
   */
  request(path: string, init?: RequestInit): Promise<Response>;
}

export interface ClientOptions {
  /**
   * Where the server is: an absolute URL, a path on the origin of the page, such as `/chat`, or an address relative to
   * the page, such as `.`. Default: the origin of the page.
   */
  baseUrl?: string;
  /** The current token. Empty if there is none. */
  token?: () => string;
  /** Further headers of a request. */
  headers?: (init: RequestInit) => Record<string, string>;
  fetch?: typeof globalThis.fetch;
  /** Called with each response, and with its error if the status is not 2xx. May throw another error. */
  check?: (url: string, response: Response, error: ApiError | undefined) => void;
}

export function createClient(options: ClientOptions = {}): ApiClient {
  const { token = () => "", headers: more, fetch = globalThis.fetch, check } = options;
  const base = withoutSlash(options.baseUrl);
  return {
    async request(path, init = {}) {
      const headers = new Headers({ ...more?.(init), ...Object.fromEntries(new Headers(init.headers)) });
      if (token() && !headers.has("authorization")) headers.set("authorization", `Bearer ${token()}`);
      let response: Response;
      try {
        response = await fetch(`${base}${path}`, { ...init, headers });
      } catch (cause) {
        if (init.signal?.aborted) throw cause;
        throw Object.assign(unreachable(), { cause });
      }
      const error = response.ok ? undefined : await readApiError(response);
      check?.(base + path, response, error);
      if (error) throw error;
      return response;
    },
  };
}

/** `/chat/` → `/chat`, and an address relative to the page as an absolute one. */
function withoutSlash(baseUrl = ""): string {
  const isRelative = baseUrl !== "" && !/^([a-z][a-z\d+.-]*:|\/)/i.test(baseUrl);
  return (isRelative ? new URL(baseUrl, document.baseURI).href : baseUrl).replace(/\/+$/, "");
}

/**
 * Request an event stream. The response headers must arrive within `headMs`; the body has no limit. A response that is
 * not an event stream is not from Signalbox: captive portals respond 200 to everything.
 */
export async function requestEvents(
  client: ApiClient,
  path: string,
  init: RequestInit & { signal: AbortSignal },
  headMs: number,
): Promise<Response> {
  const { signal } = init;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), headMs);
  try {
    const response = await client.request(path, { ...init, signal: AbortSignal.any([signal, late.signal]) });
    if (isEvents(response)) return response;
    leave(response);
    throw foreign();
  } catch (error) {
    if (late.signal.aborted && !signal.aborted) throw unreachable();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** 204 means that all events have been seen. */
export const isEvents = ({ status, headers }: Response): boolean =>
  status === 204 || /^text\/event-stream\s*(;|$)/i.test(headers.get("content-type") ?? "");

/** Close the connection of an unread response. */
export const leave = ({ body }: Response): void => void body?.cancel().catch(() => undefined);

/** Stop a run. Resolves if the server knows the run, even if it has ended. */
export async function stopRun(client: ApiClient, runId: string, init?: RequestInit): Promise<void> {
  await client.request(`/api/runs/${encodeURIComponent(runId)}/stop`, { method: "POST", ...init });
}

/** `/health/ready` responds 503 with the same body if something is missing. */
export async function fetchReadiness({ baseUrl, fetch = globalThis.fetch }: ClientOptions = {}): Promise<Readiness> {
  const response = await fetch(`${withoutSlash(baseUrl)}/health/ready`);
  const body: unknown = await response.json().catch(() => undefined);
  const { simulated } = (body ?? {}) as Record<string, unknown>;
  return { ready: response.ok, simulated: simulated === true };
}

const REACH_MS = 5000;

/** Whether the server responds at all. */
export async function isReachable({ baseUrl, fetch = globalThis.fetch }: ClientOptions = {}): Promise<boolean> {
  try {
    return (
      await fetch(`${withoutSlash(baseUrl)}/health/live`, { signal: AbortSignal.timeout(REACH_MS), cache: "no-store" })
    ).ok;
  } catch {
    return false;
  }
}

/** Fetch a document as text. Navigating to the same address gives a page. */
export async function fetchDocument(client: ApiClient, path: string): Promise<string> {
  return (await client.request(path, { headers: { accept: "text/markdown, text/plain;q=0.9" } })).text();
}

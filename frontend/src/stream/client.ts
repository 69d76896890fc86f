// The few calls of the API, with the access token where one is set.
import type { Readiness } from "../types/models.ts";
import { foreign, readApiError, unreachable } from "./errors.ts";

export interface ApiClient {
  /** Asks the API; throws ApiError for every answer that is not 2xx, and for no answer. An abort stays an abort. */
  request(path: string, init?: RequestInit): Promise<Response>;
}

export interface ClientOptions {
  base?: string;
  token?: () => string;
  fetch?: typeof globalThis.fetch;
}

export function createClient({ base = "", token = () => "", fetch = globalThis.fetch }: ClientOptions = {}): ApiClient {
  return {
    async request(path, init = {}) {
      const headers = new Headers(init.headers);
      if (token() && !headers.has("authorization")) headers.set("authorization", `Bearer ${token()}`);
      let response: Response;
      try {
        response = await fetch(`${base}${path}`, { ...init, headers });
      } catch (cause) {
        if (init.signal?.aborted) throw cause;
        throw unreachable();
      }
      if (!response.ok) throw await readApiError(response);
      return response;
    },
  };
}

/**
 * Asks for events. The head of their answer has `headMs` to come, its body as long as it takes. What is no event stream
 * is not ours, whatever its status: a captive portal answers 200 to everything.
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

/** A 204 says that all events were seen. */
const isEvents = ({ status, headers }: Response): boolean =>
  status === 204 || /^text\/event-stream\s*(;|$)/i.test(headers.get("content-type") ?? "");

/** Frees the connection of an answer that is not read. */
export const leave = ({ body }: Response): void => void body?.cancel().catch(() => undefined);

/** Ask the server to end a run. True when it knew the run, also when it was over already. */
export async function stopRun(client: ApiClient, runId: string, init?: RequestInit): Promise<void> {
  await client.request(`/api/runs/${encodeURIComponent(runId)}/stop`, { method: "POST", ...init });
}

/** `/health/ready` answers 503 with the same body when something is missing. */
export async function fetchReadiness(fetch: typeof globalThis.fetch = globalThis.fetch): Promise<Readiness> {
  const response = await fetch("/health/ready");
  const body: unknown = await response.json().catch(() => undefined);
  const { simulated } = (body ?? {}) as Record<string, unknown>;
  return { ready: response.ok, simulated: simulated === true };
}

const REACH_MS = 5000;

/** Whether the server answers at all. */
export async function isReachable(fetch: typeof globalThis.fetch = globalThis.fetch): Promise<boolean> {
  try {
    return (await fetch("/health/live", { signal: AbortSignal.timeout(REACH_MS), cache: "no-store" })).ok;
  } catch {
    return false;
  }
}

/** A document as its text: a browser that navigates gets a page at the same address. */
export async function fetchDocument(client: ApiClient, path: string): Promise<string> {
  return (await client.request(path, { headers: { accept: "text/markdown, text/plain;q=0.9" } })).text();
}

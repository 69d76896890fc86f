// The few calls of the API, with the access token where one is set.
import type { Readiness } from "../types/models.ts";
import { readApiError, unreachable } from "./errors.ts";

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

/** A document as its text: a browser that navigates gets a page at the same address. */
export async function fetchDocument(client: ApiClient, path: string): Promise<string> {
  return (await client.request(path, { headers: { accept: "text/markdown, text/plain;q=0.9" } })).text();
}

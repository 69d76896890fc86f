// Requests for the state of the upstreams and for their reload.
import type { ApiClient } from "@signalbox/client/requests";
import type { UpstreamLine } from "../../types/models.ts";
import { number, send, text } from "./request.ts";

export async function fetchUpstreams(client: ApiClient): Promise<readonly UpstreamLine[]> {
  const { upstreams } = (await (await client.request("/api/upstreams")).json()) as Record<string, unknown>;
  return Array.isArray(upstreams) ? upstreams.map(parseUpstream) : [];
}

/** Read upstreams.toml again. Throws ApiError if it is invalid, and then changes nothing. */
export async function reloadUpstreams(): Promise<void> {
  await send("POST", "/api/upstreams/reload");
}

function parseUpstream(value: unknown): UpstreamLine {
  const { name, dialect, host, state, consecutive_failures, last_error } = (value ?? {}) as Record<string, unknown>;
  return {
    name: text(name),
    dialect: text(dialect),
    host: text(host),
    state: state === "open" || state === "half_open" ? state : "closed",
    failures: number(consecutive_failures),
    lastError: text(last_error) || undefined,
  };
}

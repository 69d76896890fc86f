// The request for the state of the upstreams.
import type { ApiClient } from "@signalbox/client/requests";
import type { UpstreamLine } from "../../types/models.ts";

export async function fetchUpstreams(client: ApiClient): Promise<readonly UpstreamLine[]> {
  const { upstreams } = (await (await client.request("/api/upstreams")).json()) as Record<string, unknown>;
  return Array.isArray(upstreams) ? upstreams.map(parseUpstream) : [];
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");

function parseUpstream(value: unknown): UpstreamLine {
  const { name, dialect, host, state, consecutive_failures, last_error } = (value ?? {}) as Record<string, unknown>;
  return {
    name: text(name),
    dialect: text(dialect),
    host: text(host),
    state: state === "open" || state === "half_open" ? state : "closed",
    failures: typeof consecutive_failures === "number" ? consecutive_failures : 0,
    lastError: text(last_error) || undefined,
  };
}

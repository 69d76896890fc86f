// Requests for the feature flag TOOL_LOOP_V2.
import type { ApiClient } from "@signalbox/client/requests";
import type { FlagState, LoopFlag } from "../../types/models.ts";

const FLAG = "/api/flags/tool_loop_v2";

export async function fetchFlag(client: ApiClient): Promise<LoopFlag> {
  return parseFlag(await (await client.request(FLAG)).json());
}

/** Store the flag override. Returns the new state. Without a token, the session of an operator counts. */
export async function storeOverride(
  client: ApiClient,
  token: string,
  wanted: { state: FlagState; percent: number },
): Promise<LoopFlag> {
  const body = wanted.state === "percent" ? wanted : { state: wanted.state };
  const response = await client.request(FLAG, {
    method: "PUT",
    headers: { ...(token && { authorization: `Bearer ${token}` }), "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return parseFlag(await response.json());
}

const number = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);
const text = (value: unknown): string => (typeof value === "string" ? value : "");

function parseFlag(value: unknown): LoopFlag {
  const { state, percent, environment, effective } = (value ?? {}) as Record<string, unknown>;
  return {
    state: state === "off" || state === "percent" || state === "on" ? state : undefined,
    percent: number(percent) ?? 0,
    environment: typeof environment === "boolean" ? environment : undefined,
    effective: text(effective),
  };
}

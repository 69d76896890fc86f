// Requests of the operator page: the feature flag TOOL_LOOP_V2 and the recent runs.
import type { FlagState, LoopFlag, RunLine } from "../types/models.ts";
import type { ApiClient } from "./client.ts";

const FLAG = "/api/flags/tool_loop_v2";

export async function fetchFlag(client: ApiClient): Promise<LoopFlag> {
  return parseFlag(await (await client.request(FLAG)).json());
}

/** Store the flag override. Returns the new state. Only this request uses the operator token. */
export async function storeOverride(
  client: ApiClient,
  token: string,
  wanted: { state: FlagState; percent: number },
): Promise<LoopFlag> {
  const body = wanted.state === "percent" ? wanted : { state: wanted.state };
  const response = await client.request(FLAG, {
    method: "PUT",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return parseFlag(await response.json());
}

export interface RunPage {
  runs: readonly RunLine[];
  /** The `before` of the next page. Undefined if there is none. */
  next: string | undefined;
  /** The page includes all users' runs, not only those without an API token. */
  isAll: boolean;
}

/** Newest first, at most 200 runs. */
export async function fetchRuns(client: ApiClient, limit: number, before?: string): Promise<RunPage> {
  const query = new URLSearchParams({ limit: String(limit), ...(before !== undefined && { before }) });
  const body: unknown = await (await client.request(`/api/runs?${query}`)).json();
  const { runs, next, all_owners } = (body ?? {}) as Record<string, unknown>;
  return {
    runs: Array.isArray(runs) ? runs.flatMap(parseRun) : [],
    next: text(next) || undefined,
    isAll: all_owners === true,
  };
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

/** A deleted API token has only its id. */
function ownerOf(value: unknown): string {
  const { id, name } = (value ?? {}) as Record<string, unknown>;
  return text(name) || text(id);
}

/** The API's times are in seconds. */
function parseRun(value: unknown): RunLine[] {
  const run = (value ?? {}) as Record<string, unknown>;
  const [started, ended] = [number(run.started) ?? 0, number(run.ended)];
  if (!text(run.run_id)) return [];
  return [
    {
      runId: text(run.run_id),
      status: text(run.status) || "running",
      code: text(run.code) || undefined,
      model: text(run.model),
      loop: text(run.loop),
      protocol: text(run.protocol),
      started: started * 1000,
      ms: ended === undefined ? undefined : (ended - started) * 1000,
      steps: number(run.steps) ?? 0,
      cost: number(run.cost),
      simulated: run.simulated === true,
      owner: ownerOf(run.owner),
    },
  ];
}

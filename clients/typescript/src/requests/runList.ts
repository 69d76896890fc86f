// The list of runs.

import type { RunLine } from "../types/api.ts";
import type { ApiClient } from "./client.ts";
import { parseFlag } from "./jsonFields.ts";

export interface RunPage {
  runs: readonly RunLine[];
  /** The `before` of the next page. Undefined if there is none. */
  next: string | undefined;
  /** The page includes all users' runs, not only those without an API token. */
  isAll: boolean;
}

/** Newest first, at most 200 runs: all of them, or those that match the filter's query parameters. */
export async function fetchRuns(
  client: ApiClient,
  limit: number,
  before?: string,
  filter: Iterable<readonly [name: string, value: string]> = [],
): Promise<RunPage> {
  const query = new URLSearchParams({ limit: String(limit), ...(before !== undefined && { before }) });
  for (const [name, value] of filter) query.append(name, value);
  const body: unknown = await (await client.request(`/api/runs?${query}`)).json();
  const { runs, next, all_owners } = (body ?? {}) as Record<string, unknown>;
  return {
    runs: Array.isArray(runs) ? runs.flatMap(parseRun) : [],
    next: text(next) || undefined,
    isAll: all_owners === true,
  };
}

/** Stop a run that belongs to no conversation, and delete everything stored about it. */
export async function deleteRun(client: ApiClient, runId: string): Promise<void> {
  await client.request(`/api/runs/${encodeURIComponent(runId)}`, { method: "DELETE" });
}

const number = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);
const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** A deleted API token has only its id. */
function ownerOf(value: unknown): string {
  const { id, name } = (value ?? {}) as Record<string, unknown>;
  return text(name) || text(id);
}

/** A valid run as a list of one. The API's times are in seconds. */
export function parseRun(value: unknown): RunLine[] {
  const run = (value ?? {}) as Record<string, unknown>;
  const [started, ended, settled] = [number(run.started) ?? 0, number(run.ended), number(run.settled_at)];
  if (!text(run.run_id)) return [];
  return [
    {
      runId: text(run.run_id),
      status: text(run.status) || "running",
      code: text(run.code) || undefined,
      model: text(run.model),
      loop: text(run.loop),
      flag: parseFlag(run.flag),
      protocol: text(run.protocol),
      started: started * 1000,
      ms: ended === undefined ? undefined : (ended - started) * 1000,
      steps: number(run.steps) ?? 0,
      cost: number(run.cost),
      costEstimated: run.cost_estimated === true,
      settledAt: settled === undefined ? undefined : settled * 1000,
      conversationId: text(run.conversation_id) || undefined,
      parentId: text(run.parent_id) || undefined,
      simulated: run.simulated === true,
      owner: ownerOf(run.owner),
    },
  ];
}

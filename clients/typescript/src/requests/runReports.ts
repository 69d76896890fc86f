// Filters of runs, and their statistics.
import type { Percentiles, RunFilter, RunStats, StatsBucket, StatsOptions, Time } from "../types/reports.ts";
import type { ApiClient } from "./client.ts";
import { fields, list, number, readBody, text, time } from "./jsonFields.ts";

type Parameter = readonly [name: string, value: string];

/** The query parameters of a filter. */
export function filterParameters({ since, until, ...rest }: RunFilter): Parameter[] {
  const parameters = Object.entries({ ...rest, since: secondsOf(since), until: secondsOf(until) });
  return parameters.flatMap(([name, value]: [string, string | readonly string[] | undefined]) =>
    (typeof value === "string" ? [value] : (value ?? [])).map((one): Parameter => [name, one]),
  );
}

const secondsOf = (at: Time | undefined): string | undefined =>
  typeof at === "string" || at === undefined ? at : String(Number(at) / 1000);

const queryOf = (parameters: readonly Parameter[]): string =>
  `${new URLSearchParams(parameters.map(([...pair]) => pair))}`;

/** The address of all runs that match, one per line. */
export const exportAddress = (filter: RunFilter): string => `/api/runs.ndjson?${queryOf(filterParameters(filter))}`;

export async function fetchRunStats(
  client: ApiClient,
  { bucketSeconds = 3600, ...filter }: StatsOptions,
): Promise<RunStats> {
  const query = queryOf([["bucket", String(bucketSeconds)], ...filterParameters(filter)]);
  const body = await readBody(await client.request(`/api/run-stats?${query}`));
  return {
    since: time(body.since) ?? 0,
    until: time(body.until) ?? 0,
    bucketSeconds: number(body.bucket_seconds) ?? bucketSeconds,
    isAll: body.all_owners === true,
    buckets: list(body.buckets).map(parseBucket),
  };
}

function parseBucket(value: unknown): StatsBucket {
  const bucket = fields(value);
  return {
    start: time(bucket.start) ?? 0,
    loop: text(bucket.loop),
    runs: number(bucket.runs) ?? 0,
    statuses: fields(bucket.statuses) as StatsBucket["statuses"],
    atLimit: number(bucket.at_limit) ?? 0,
    firstTokenMs: parsePercentiles(bucket.first_token_ms),
    durationMs: parsePercentiles(bucket.duration_ms),
    cost: number(bucket.cost) ?? 0,
  };
}

function parsePercentiles(value: unknown): Percentiles | undefined {
  const [p50, p95] = [number(fields(value).p50), number(fields(value).p95)];
  return p50 === undefined || p95 === undefined ? undefined : { p50, p95 };
}

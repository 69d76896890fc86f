// Loads the statistics of the runs that match a filter.
import { filterParameters, PERIODS, type RunFilter } from "../../logic/pages/runFilter.ts";
import type { Percentiles, RunStats, StatsBucket } from "../../logic/pages/runStats.ts";
import { connect } from "../server/server.ts";
import { runToken } from "../server/session.ts";

/** Throws ApiError, for example if the time of the filter is longer than the server allows. */
export async function fetchRunStats(filter: RunFilter): Promise<RunStats> {
  const parameters = new URLSearchParams(filterParameters(filter, Date.now()).map(([name, value]) => [name, value]));
  parameters.set("bucket", String(bucketOf(filter)));
  return parseStats(await (await connect(runToken).request(`/api/run-stats?${parameters}`)).json());
}

const MOST_BUCKETS = 60;

/** The length of a bucket in seconds. Without a time, the server counts the last day. */
function bucketOf({ period, since, until }: RunFilter): number {
  const known = PERIODS.find(({ value }) => value === period);
  if (known) return known.bucket;
  if (since === undefined) return 3600;
  const seconds = ((until ? Date.parse(until) : Date.now()) - Date.parse(since)) / 1000;
  const steps = [60, 300, 900, 3600, 6 * 3600, 24 * 3600, 7 * 24 * 3600];
  return steps.find((step) => seconds / step <= MOST_BUCKETS) ?? 28 * 24 * 3600;
}

type Json = Readonly<Record<string, unknown>>;

const number = (value: unknown): number => (typeof value === "number" ? value : 0);

const parseStats = ({ since, until, bucket_seconds, buckets }: Json): RunStats => ({
  since: number(since),
  until: number(until),
  bucketSeconds: number(bucket_seconds) || 3600,
  buckets: Array.isArray(buckets) ? buckets.map(parseBucket) : [],
});

const parseBucket = ({ start, loop, runs, statuses, at_limit, first_token_ms, duration_ms }: Json): StatsBucket => ({
  start: number(start),
  loop: typeof loop === "string" ? loop : "",
  runs: number(runs),
  statuses: (statuses ?? {}) as StatsBucket["statuses"],
  atLimit: number(at_limit),
  firstToken: (first_token_ms as Percentiles | null) ?? undefined,
  duration: (duration_ms as Percentiles | null) ?? undefined,
});

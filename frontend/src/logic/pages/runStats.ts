// Statistics of runs, as series for charts: outcomes and latency by loop over time.

export interface StatsBucket {
  /** The beginning, in epoch seconds. */
  start: number;
  loop: string;
  runs: number;
  /** Number of runs by status. */
  statuses: Readonly<Record<string, number>>;
  /** Number of interrupted runs that ended at a limit: they have not failed. */
  atLimit: number;
  /** Milliseconds. Undefined if no run of the bucket has them. */
  firstToken: Percentiles | undefined;
  duration: Percentiles | undefined;
}

export interface Percentiles {
  p50: number;
  p95: number;
}

export interface RunStats {
  since: number;
  until: number;
  bucketSeconds: number;
  buckets: readonly StatsBucket[];
}

/** The colour of a series, as a token of the page. */
export type Tone = "done" | "failed" | "cut" | "waiting" | "legacy" | "v2";

export interface Series {
  name: string;
  tone: Tone;
  isDashed: boolean;
  /** One value per time. Undefined where there is none. */
  values: readonly (number | undefined)[];
}

export interface Chart {
  title: string;
  /** Costs have one time per UTC day. */
  unit: "runs" | "ms" | "usd";
  /** Stacked bars; otherwise lines. */
  isStacked: boolean;
  /** The beginnings of all buckets in epoch seconds, also of those without runs. */
  times: readonly number[];
  series: readonly Series[];
}

const LOOPS = ["v2", "legacy"] as const;

/** `limits`: whether the interrupted runs that ended at a limit are added, or taken off. */
const OUTCOMES = [
  { name: "Complete", tone: "done", statuses: ["complete"], limits: 0 },
  { name: "Limit reached", tone: "cut", statuses: ["length"], limits: 1 },
  { name: "Failed", tone: "failed", statuses: ["error", "interrupted", "content_filter"], limits: -1 },
  { name: "Stopped or running", tone: "waiting", statuses: ["cancelled", "running"], limits: 0 },
] as const;

const LATENCIES = [
  { title: "Time to first token", field: "firstToken" },
  { title: "Duration", field: "duration" },
] as const;

const PERCENTILES = [
  { of: "p50", name: "median", isDashed: false },
  { of: "p95", name: "95th percentile", isDashed: true },
] as const;

/** All beginnings from the first bucket to the last, so that a time without runs is visible as such. */
export function bucketTimes({ since, until, bucketSeconds }: RunStats): readonly number[] {
  const first = Math.floor(since / bucketSeconds);
  const last = Math.floor(Math.max(since, until - 1) / bucketSeconds);
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * bucketSeconds);
}

/** How the runs of each loop ended. */
export function outcomeCharts(stats: RunStats): readonly Chart[] {
  const times = bucketTimes(stats);
  return LOOPS.map((loop) => {
    const byTime = bucketsOf(stats, loop);
    const counted = ({ statuses, limits }: (typeof OUTCOMES)[number], time: number) => {
      const bucket = byTime.get(time);
      return statuses.reduce((sum, status) => sum + (bucket?.statuses[status] ?? 0), limits * (bucket?.atLimit ?? 0));
    };
    const series = OUTCOMES.map((outcome) => ({
      name: outcome.name,
      tone: outcome.tone,
      isDashed: false,
      values: times.map((time) => counted(outcome, time)),
    }));
    return { title: `Outcomes of loop ${loop}`, unit: "runs", isStacked: true, times, series };
  });
}

/** The median and the 95th percentile of both loops. */
export function latencyCharts(stats: RunStats): readonly Chart[] {
  const times = bucketTimes(stats);
  return LATENCIES.map(({ title, field }) => {
    const series = LOOPS.flatMap((loop) => {
      const byTime = bucketsOf(stats, loop);
      return PERCENTILES.map(({ of, name, isDashed }) => ({
        name: `${loop}, ${name}`,
        tone: loop,
        isDashed,
        values: times.map((time) => byTime.get(time)?.[field]?.[of]),
      }));
    });
    return { title, unit: "ms", isStacked: false, times, series };
  });
}

const bucketsOf = ({ buckets }: RunStats, loop: string): ReadonlyMap<number, StatsBucket> =>
  new Map(buckets.filter((bucket) => bucket.loop === loop).map((bucket) => [bucket.start, bucket]));

/** The rows that have a value, newest first, for the table beside a chart. */
export const tableRows = ({ times, series }: Chart): readonly { time: number; values: Series["values"] }[] =>
  times
    .map((time, index) => ({ time, values: series.map(({ values }) => values[index]) }))
    .filter(({ values }) => values.some(Boolean))
    .toReversed();

/** Each series on top of those before it: the last one is the total. */
export function stacked(series: readonly Series[]): readonly (readonly number[])[] {
  const sums = series[0]?.values.map(() => 0) ?? [];
  return series.map(({ values }) =>
    values.map((value, index) => {
      sums[index] = (sums[index] ?? 0) + (value ?? 0);
      return sums[index] ?? 0;
    }),
  );
}

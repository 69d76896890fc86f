// Filters of runs, statistics and costs, in camel case and with times in milliseconds.

/** A text, or several of which one must match. */
export type Values = string | readonly string[];

/** A date, epoch milliseconds, or an ISO time, which is in UTC unless it says otherwise. */
export type Time = Date | number | string;

/** Selects runs. A run must match all fields. */
export interface RunFilter {
  status?: Values;
  code?: Values;
  model?: Values;
  loop?: Values;
  protocol?: Values;
  /** Only the operator token can select other owners. Empty for runs without an API token. */
  owner?: Values;
  /** A tool that the run called. */
  tool?: Values;
  since?: Time;
  until?: Time;
  /** A text in the question or the answer. */
  q?: string;
}

export interface StatsOptions extends RunFilter {
  /** The length of a bucket. Default: 3600. */
  bucketSeconds?: number;
}

export interface Percentiles {
  p50: number;
  p95: number;
}

/** The runs of one loop that started in one bucket of time. */
export interface StatsBucket {
  /** Epoch milliseconds. */
  start: number;
  loop: string;
  runs: number;
  /** The number of runs by status. Active runs are `running`. */
  statuses: Readonly<Record<string, number>>;
  /** The number of `interrupted` runs that ended at a limit and have not failed. */
  atLimit: number;
  /** From the start of a run to the model's first part. Undefined if no run has this time. */
  firstTokenMs: Percentiles | undefined;
  /** Undefined if no run has ended. */
  durationMs: Percentiles | undefined;
  /** The sum of the known costs in USD, including what simulated runs would have cost. */
  cost: number;
}

/** Statistics in order of time and loop. Buckets without runs are left out. */
export interface RunStats {
  since: number;
  until: number;
  bucketSeconds: number;
  /** The statistics include all users' runs. */
  isAll: boolean;
  buckets: readonly StatsBucket[];
}

export interface SpendOptions {
  /** Default: `day`. */
  groupBy?: "day" | "owner" | "model" | "group";
  /** The first UTC day, such as `2026-11-28`. Default: the first day of this month. */
  from?: Date | string;
  /** The last UTC day. Default: today. */
  to?: Date | string;
}

/** The cost of runs in USD. */
export interface SpendTotal {
  runs: number;
  cost: number;
  /** The part of `cost` that may still change. */
  estimated: number;
  estimatedRuns: number;
}

export interface SpendRow extends SpendTotal {
  /** A UTC day, an owner's id, a model or a group. Empty for the runs without an API token, or without a group. */
  key: string;
  /** The name of the owner's API token. */
  name: string | undefined;
}

export interface Spend {
  firstDay: string;
  lastDay: string;
  groupBy: string;
  /** The costs of all users are included. */
  isAll: boolean;
  rows: readonly SpendRow[];
  total: SpendTotal;
}

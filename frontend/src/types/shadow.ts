// What shadow mode has found.

export type ShadowOutcome = "same" | "expected" | "unexpected" | "failed" | "running";

export interface ShadowDifference {
  /** In what the loops differ, such as ending or cost. */
  kind: string;
  isExpected: boolean;
  /** The known reason. */
  why: string | undefined;
  /** Undefined if it would quote the run. */
  legacy: string | undefined;
  v2: string | undefined;
}

/** A run that was made again on `loop`. */
export interface ShadowRun {
  runId: string;
  at: number;
  model: string;
  loop: string;
  cost: number;
  differences: readonly ShadowDifference[];
}

export interface ShadowReport {
  /** The share of complete runs that are made again. Zero if shadow mode is off. */
  percent: number;
  /** USD, as all costs. */
  dailyCost: number;
  costToday: number;
  cost: number;
  counts: Readonly<Record<ShadowOutcome, number>>;
  /** The newest runs with unexpected differences. */
  newest: readonly ShadowRun[];
}

// The rollout of the V2 loop, as the operator page shows it.

export interface Stage {
  percent: number;
  minutes: number;
  runs: number;
}

export interface Plan {
  mode: "guard" | "observe";
  stages: readonly Stage[];
  holdback: number;
  state: "running" | "finished" | "rolled_back" | "overridden" | "ended";
  /** Counted from 1. */
  stage: number;
  percent: number;
  /** V2 is compared with V2 of the stage before: at 100 percent, and after the last stage. */
  isWatched: boolean;
  /** Epoch milliseconds. */
  stageStarted: number;
}

export interface Tally {
  runs: number;
  error: number;
  interrupted: number;
  empty: number;
  firstTokenMs: number | undefined;
  cost: number | undefined;
}

export interface Figures {
  window: string;
  v2: Tally;
  legacy: Tally;
}

export interface Rollout {
  /** Undefined if there never was one. */
  plan: Plan | undefined;
  /** What happens now and why. */
  assessment: string;
  /** The evidence that V2 is worse, and where V2 is taken back. */
  evidence: number | undefined;
  threshold: number | undefined;
  /** The evidence that V2 has become worse than in the stage before, and where the rollout steps back. */
  watch: { evidence: number; threshold: number } | undefined;
  figures: readonly Figures[];
}

/** In the mode "observe", the plan follows the percentage of the flag. */
export type NewPlan = { mode: "observe" } | ({ mode: "guard" } & Pick<Plan, "stages" | "holdback">);

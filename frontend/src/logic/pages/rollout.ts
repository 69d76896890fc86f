// The texts of the rollout and its audit trail.
import type { Plan, Stage, Tally } from "../../types/rollout.ts";
import type { Lamp } from "../answer/stops.ts";
import { cost, count, duration, plural } from "../wording/statusAndAmounts.ts";

const STATES: Record<Plan["state"], { words: string; lamp: Lamp }> = {
  running: { words: "Running", lamp: "running" },
  finished: { words: "Finished", lamp: "done" },
  rolled_back: { words: "Rolled back", lamp: "failed" },
  overridden: { words: "Overridden by an operator", lamp: "waiting" },
  ended: { words: "Ended by an operator", lamp: "waiting" },
};

export const planState = ({ state }: Plan): { words: string; lamp: Lamp } => STATES[state];

export const MODES = {
  guard: "Guard: raises the percentage, and sets it back if V2 is worse",
  observe: "Observe: only compares the loops and reports",
} as const;

export const stageText = ({ minutes, runs }: Stage): string =>
  `at least ${plural(minutes, "minute")} and ${plural(runs, "V2 run")}`;

export const FIRST_STAGES: readonly Stage[] = [5, 25, 50, 100].map((percent) => ({ percent, minutes: 60, runs: 200 }));

const WINDOWS: Readonly<Record<string, string>> = {
  "1m": "Last minute",
  "10m": "Last 10 minutes",
  stage: "This stage",
};

export const windowText = (window: string): string => WINDOWS[window] ?? window;

/** "12 (4%)". */
const shareText = (part: number, all: number): string =>
  part === 0 || all === 0 ? count(part) : `${count(part)} (${Math.max(1, Math.round((part / all) * 100))}%)`;

/** The cells of one loop in one window. */
export const tallyTexts = ({ runs, error, interrupted, empty, firstTokenMs, cost: usd }: Tally): readonly string[] => [
  count(runs),
  shareText(error, runs),
  shareText(interrupted, runs),
  shareText(empty, runs),
  firstTokenMs === undefined ? "–" : duration(firstTokenMs),
  usd === undefined ? "–" : cost(usd),
];

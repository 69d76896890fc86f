// The texts of the rollout and its audit trail.
import type { LoopFlag } from "../../types/models.ts";
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

/** "Guard", and what it does as a sentence. */
export function modeTexts(mode: Plan["mode"]): { name: string; effect: string } {
  const [name = "", effect = ""] = MODES[mode].split(": ");
  return { name, effect: `${effect.charAt(0).toUpperCase()}${effect.slice(1)}.` };
}

/** The percentage of conversations on V2. Without a setting, all of them. */
export const percentOf = ({ state, percent, environment }: LoopFlag): number =>
  environment === false || state === "off" ? 0 : state === "percent" ? percent : 100;

function usersText(percent: number): string {
  if (percent === 100) return "V2 for everyone (100%)";
  return percent === 0 ? "the legacy loop for everyone (V2: 0%)" : `V2 for ${percent}% of the conversations`;
}

/** What a start of the rollout changes. `percent` is that of its first stage, undefined if it only observes. */
export function startText(flag: LoopFlag, percent: number | undefined): string {
  const now = `Now: ${usersText(percentOf(flag))}.`;
  if (flag.environment === false) return `${now} The kill switch TOOL_LOOP_V2=false is set. It pauses the rollout.`;
  return `${now} ${percent === undefined ? "Starting does not change this." : `Starting sets V2 to ${percent}%.`}`;
}

/** What the end of a running rollout means. */
export function endText(plan: Plan, flag: LoopFlag | undefined): string {
  const percent = plan.mode === "observe" && flag ? percentOf(flag) : plan.percent;
  return `V2 stays at ${percent}%, and the loops are no longer compared. To use the legacy loop for all new answers, choose "Take V2 back".`;
}

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

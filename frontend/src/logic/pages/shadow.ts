// The texts of shadow mode.
import type { ShadowDifference, ShadowOutcome, ShadowReport } from "../../types/shadow.ts";
import type { Lamp } from "../answer/stops.ts";
import { cost } from "../wording/statusAndAmounts.ts";

export const SHADOW_OUTCOMES: readonly { outcome: ShadowOutcome; name: string; lamp: Lamp }[] = [
  { outcome: "same", name: "No difference", lamp: "done" },
  { outcome: "expected", name: "Differences with a known reason", lamp: "waiting" },
  { outcome: "unexpected", name: "Unexpected differences", lamp: "failed" },
  { outcome: "failed", name: "Could not be made again", lamp: "cut" },
  { outcome: "running", name: "Under way", lamp: "running" },
];

export const shadowCount = ({ counts }: ShadowReport): number =>
  SHADOW_OUTCOMES.reduce((sum, { outcome }) => sum + counts[outcome], 0);

/** The state of shadow mode, and what decides it. */
export function shadowState({ percent, dailyCost, costToday }: ShadowReport): { lamp: Lamp; words: string } {
  if (percent === 0) return { lamp: "waiting", words: "Shadow mode is off." };
  if (costToday >= dailyCost) {
    return { lamp: "cut", words: `Shadow mode has used today's ${cost(dailyCost)}. It continues at 00:00 UTC.` };
  }
  return {
    lamp: "done",
    words: `Shadow mode is on. ${percent}% of the complete runs are made again on the other loop.`,
  };
}

const KINDS: Readonly<Record<string, string>> = {
  ending: "Ending",
  code: "Error code",
  calls: "Tool calls",
  results: "Results of tools",
  text: "Text of the answer",
  warnings: "Warnings",
  reasoning: "Reasoning",
  steps: "Number of steps",
  order: "Order of events",
  cost: "Cost",
  contract: "Event contract",
};

/** "Ending: legacy complete, v2 error". The report quotes no messages, arguments and results. */
export function differenceText({ kind, isExpected, why, legacy, v2 }: ShadowDifference): string {
  const name = KINDS[kind] ?? kind;
  const values = legacy === undefined && v2 === undefined ? "" : `: legacy ${legacy ?? "–"}, v2 ${v2 ?? "–"}`;
  return `${name}${values}${isExpected ? ` (expected${why ? `: ${why}` : ""})` : ""}`;
}

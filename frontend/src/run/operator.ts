// What the operator's page says: what pulling the lever does, and how the runs of each loop ended.
import type { Lever, LeverState, RunLine } from "../types/models.ts";
import type { Lamp } from "./view.ts";
import { endingOf, plural } from "./words.ts";

export const KILLED =
  "TOOL_LOOP_V2=false stands in the server's environment, and no lever overrides it. Take it out and restart to pull again.";

/** What pulling the lever there does, as a sentence. */
export function effectOf(state: LeverState, percent: number): string {
  const share = `About ${percent} of 100 conversations use the V2 loop from their next answer on, and each keeps its side; the others use the legacy loop.`;
  const effects: Record<LeverState, string> = {
    off: "Every new answer is made by the legacy loop.",
    percent: share,
    on: "Every new answer is made by the V2 loop.",
  };
  return `${effects[state]} It acts at once and survives restarts. Answers under way keep their loop.`;
}

/** Whether the lever stands there already. */
export const standsAt = (lever: Lever, state: LeverState, percent: number): boolean =>
  lever.state === state && (state !== "percent" || lever.percent === percent);

export const runLamp = (run: RunLine): Lamp =>
  run.status === "running" ? "running" : endingOf({ status: run.status }).lamp;

/** "complete", "error UPSTREAM_TIMEOUT". */
export const endingWords = (run: RunLine): string => [run.status, run.code].filter(Boolean).join(" ");

export interface LoopRuns {
  loop: string;
  runs: readonly RunLine[];
  /** "12 runs: 10 complete, 2 error". */
  words: string;
}

/** The runs by loop, both loops always there, legacy first. */
export function byLoop(runs: readonly RunLine[]): readonly LoopRuns[] {
  const groups = Map.groupBy(runs, ({ loop }) => loop);
  return [...new Set(["legacy", "v2", ...groups.keys()])].map((loop) => {
    const found = groups.get(loop) ?? [];
    const endings = Map.groupBy(found, ({ status }) => status);
    const counts = [...endings].map(([status, some]) => `${some.length} ${status}`);
    return {
      loop,
      runs: found,
      words: found.length ? `${plural(found.length, "run")}: ${counts.join(", ")}` : "no run",
    };
  });
}

/** "now", "3 min ago", "2 h ago". */
export function ago(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return "now";
  return minutes < 60 ? `${minutes} min ago` : `${Math.floor(minutes / 60)} h ago`;
}

// Summarizes the steps of a long run: what was done and how often, the sources, and the time.
import type { CallItem } from "../../types/models.ts";
import { tableOf } from "../table/dataTable.ts";
import { noticeOf, sourcesIn } from "../trace/sources.ts";
import { duration, plural } from "../wording/statusAndAmounts.ts";
import { burstLamp, hasFailed, type Lamp, type Stop, wasHanded, wasSkipped } from "./stops.ts";

export type AnswerStop = Extract<Stop, { kind: "answer" }>;
export type Step = Exclude<Stop, AnswerStop>;

/** A text of the answer, or the steps before it, which fold into one row once they are finished and many. */
export type Passage =
  | { kind: "answer"; id: string; stop: AnswerStop }
  | { kind: "steps"; id: string; steps: readonly Step[]; isLong: boolean };

/** More rows than this are folded. */
const FEW = 3;

/**
 * Group stops into passages. Steps are finished once text follows them or the run has ended. The id of a passage is
 * stable while it grows.
 */
export function passagesOf(stops: readonly Stop[], isOver: boolean): readonly Passage[] {
  const passages: Passage[] = [];
  let steps: Step[] = [];
  const close = (isFinished: boolean) => {
    const isLong = isFinished && steps.length > FEW && steps.every(({ lamp }) => lamp !== "running");
    if (steps.length > 0) passages.push({ kind: "steps", id: `steps-${passages.length}`, steps, isLong });
    steps = [];
  };
  for (const stop of stops) {
    if (stop.kind !== "answer") {
      steps.push(stop);
      continue;
    }
    close(true);
    passages.push({ kind: "answer", id: stop.id, stop });
  }
  close(isOver);
  return passages;
}

export const callsIn = (steps: readonly Step[]): readonly CallItem[] =>
  steps.flatMap((step) => {
    if (step.kind === "search" || step.kind === "tools") return step.calls;
    return step.kind === "file" && "kind" in step.call ? [step.call] : [];
  });

export interface Summary {
  /** What was done, by kind: "6 searches", "2 pages read", "8 sources". */
  done: readonly string[];
  failed: number;
  /** "1 stopped", "2 skipped", "1 handed to the client". */
  others: readonly string[];
  /** From the start of the first step to the end of the last. Parallel steps count once. */
  took: string;
}

/** `titleOf` returns the title of a tool. */
export function summaryOf(steps: readonly Step[], titleOf: (name: string) => string): Summary {
  const calls = callsIn(steps);
  const skipped = calls.filter(wasSkipped);
  const stopped = calls.filter(({ status }) => status === "cancelled").length;
  const handed = calls.filter(wasHanded);
  const sources = sourcesIn(calls.flatMap(({ links }) => links)).length;
  const ms = spanOf(steps);
  return {
    done: [
      ...kindsOf(
        calls.filter((call) => !wasSkipped(call) && !wasHanded(call)),
        titleOf,
      ),
      ...(sources > 0 ? [plural(sources, "source")] : []),
    ],
    failed: calls.filter(hasFailed).length,
    others: [
      ...(stopped > 0 ? [`${stopped} stopped`] : []),
      ...(skipped.length > 0 ? [`${skipped.length} skipped`] : []),
      ...(handed.length > 0 ? [`${handed.length} handed to the client`] : []),
    ],
    took: ms === undefined ? "" : duration(ms),
  };
}

/** Nouns for tools that are counted. Other tools are listed by title. */
const NOUNS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  read_url: ["page read", "pages read"],
  calculate: ["calculation", "calculations"],
  create_file: ["file created", "files created"],
  edit_file: ["edit", "edits"],
};

function kindsOf(calls: readonly CallItem[], titleOf: (name: string) => string): readonly string[] {
  const searches = calls.filter(({ category }) => category === "search").length;
  const byName = Map.groupBy(
    calls.filter(({ category }) => category !== "search"),
    ({ name }) => name,
  );
  const tools = [...byName].map(([name, { length }]) => toolText(name, length, titleOf));
  const rest = tools.length - FEW;
  return [
    ...(searches > 0 ? [plural(searches, "search", "searches")] : []),
    ...tools.slice(0, FEW),
    ...(rest > 0 ? [plural(rest, "other tool")] : []),
  ];
}

function toolText(name: string, times: number, titleOf: (name: string) => string): string {
  const noun = NOUNS[name];
  if (noun) return plural(times, ...noun);
  return times === 1 ? titleOf(name) : `${titleOf(name)} ${times}×`;
}

type Timed = Pick<CallItem, "startedAt" | "endedAt">;

function spanOf(steps: readonly Step[]): number | undefined {
  const items = steps.flatMap((step): readonly Timed[] => (step.kind === "reasoning" ? step.items : callsIn([step])));
  const starts = items.map(({ startedAt }) => startedAt).filter((at) => at !== undefined);
  const ends = items.map(({ endedAt }) => endedAt).filter((at) => at !== undefined);
  if (starts.length === 0 || ends.length === 0) return undefined;
  return Math.max(0, Math.max(...ends) - Math.min(...starts));
}

/** Failed until the user has opened the row. Cached results do not show. */
export function stepsLamp(steps: readonly Step[], touched: boolean): Lamp {
  const calls = callsIn(steps);
  const lamp = calls.length === 0 ? "done" : burstLamp(calls, touched);
  return lamp === "blue" ? "done" : lamp;
}

/** The caption of a table contains the notice of its source. */
const noticesOf = (step: Step): readonly string[] => [
  ...new Set(callsIn([step]).flatMap(({ result, artifact }) => (tableOf(artifact) ? [] : (noticeOf(result) ?? [])))),
];

/** For each step id, the notices of its searches that no earlier step of the answer has. */
export function firstNotices(stops: readonly Stop[]): ReadonlyMap<string, readonly string[]> {
  const shown = new Set<string>();
  return new Map(
    stops
      .filter((stop) => stop.kind !== "answer")
      .map((step) => {
        const fresh = noticesOf(step).filter((notice) => !shown.has(notice));
        for (const notice of fresh) shown.add(notice);
        return [step.id, fresh] as const;
      }),
  );
}

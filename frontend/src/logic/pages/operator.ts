// The texts and statistics of the operator page.
import type { FlagState, LoopFlag, RunLine, UpstreamLine } from "../../types/models.ts";
import type { Lamp } from "../answer/stops.ts";
import { endingOf, plural } from "../wording/statusAndAmounts.ts";
import { joinPages } from "./pagedLog.ts";

export const KILLED =
  "TOOL_LOOP_V2=false is set in the server's environment and overrides this setting. Remove it and restart the server to change the loop here.";

/** The effect of a setting, as a sentence. */
export function effectOf(state: FlagState, percent: number): string {
  const share = `About ${percent}% of conversations use the V2 loop from their next answer; the others use the legacy loop. Each conversation stays with its loop.`;
  const effects: Record<FlagState, string> = {
    off: "All new answers use the legacy loop.",
    percent: share,
    on: "All new answers use the V2 loop.",
  };
  return `${effects[state]} This takes effect immediately and survives restarts. Running answers keep their loop.`;
}

/** Whether the flag has this setting already. */
export const isCurrent = (flag: LoopFlag, state: FlagState, percent: number): boolean =>
  flag.state === state && (state !== "percent" || flag.percent === percent);

export interface LoopSource {
  name: string;
  /** The current value. */
  value: string;
  applies: boolean;
}

/** The sources of the flag's value by precedence. The first one that is set applies. */
export function loopSources({ state, percent, environment }: LoopFlag): readonly LoopSource[] {
  const words: Record<FlagState, string> = { off: "off", percent: `${percent}%`, on: "on" };
  const sources = [
    { name: "Kill switch, TOOL_LOOP_V2=false", value: environment === false ? "set" : "not set" },
    { name: "Operator setting", value: state ? words[state] : "not set" },
    { name: "TOOL_LOOP_V2=true in the environment", value: environment ? "set" : "not set" },
    { name: "Default", value: "the V2 loop" },
  ];
  const first = [environment === false, state !== undefined, environment === true, true].indexOf(true);
  return sources.map((source, index) => ({ ...source, applies: index === first }));
}

const BREAKER_LAMPS: Record<UpstreamLine["state"], Lamp> = { closed: "done", open: "failed", half_open: "waiting" };

export const upstreamLamp = ({ state }: UpstreamLine): Lamp => BREAKER_LAMPS[state];

/** What the circuit breaker does with requests, and why. */
export function upstreamText({ state, failures, lastError }: UpstreamLine): string {
  const words: Record<UpstreamLine["state"], string> = {
    closed: "In use",
    open: "Skipped",
    half_open: "Trying one request",
  };
  if (failures === 0) return words[state];
  return `${words[state]} · ${plural(failures, "failure")} in a row${lastError ? ` (${lastError})` : ""}`;
}

type Ended = Pick<RunLine, "status" | "code">;

export const runLamp = (run: Ended): Lamp => (run.status === "running" ? "running" : endingOf(asEnd(run)).lamp);

/** The status of a run in the words of the chat. */
export const statusText = (run: Ended): string =>
  run.status === "running" ? "Running" : endingOf(asEnd(run)).label || "Complete";

const asEnd = ({ status, code }: Ended) => ({ status, ...(code !== undefined && { code }) });

/** "stopped" in "2 stopped". */
export const inList = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1);

/** The code, unless it only repeats the status. */
export const codeOf = ({ status, code }: RunLine): string | undefined =>
  code?.toLowerCase() === status ? undefined : code;

/** An ending and its number of runs. */
export interface Ending {
  name: string;
  lamp: Lamp;
  count: number;
}

export interface MedianCost {
  usd: number;
  simulated: boolean;
}

export interface LoopRuns {
  loop: string;
  runs: readonly RunLine[];
  /** "12 runs: 10 complete, 2 failed". */
  words: string;
  /** Successful endings first, running ones last. */
  endings: readonly Ending[];
  /** The percentage of runs that completed, among those that were not stopped. Undefined if there are none. */
  share: number | undefined;
  /** The median duration. */
  ms: number | undefined;
  cost: MedianCost | undefined;
}

/** The runs by loop, legacy first. Both loops are always included. */
export function byLoop(runs: readonly RunLine[]): readonly LoopRuns[] {
  const groups = Map.groupBy(runs, ({ loop }) => loop);
  return [...new Set(["legacy", "v2", ...groups.keys()])].map((loop) => groupOf(loop, groups.get(loop) ?? []));
}

function groupOf(loop: string, runs: readonly RunLine[]): LoopRuns {
  const endings = endingsOf(runs);
  const counts = endings.map(({ name, count }) => `${count} ${inList(name)}`);
  return {
    loop,
    runs,
    words: runs.length ? `${plural(runs.length, "run")}: ${counts.join(", ")}` : "no runs",
    endings,
    share: shareOf(endings),
    ms: medianOf(runs.flatMap(({ ms }) => ms ?? [])),
    cost: costOf(runs),
  };
}

/** The median cost of paid runs. If all were simulated, of what they would have cost. */
function costOf(runs: readonly RunLine[]): MedianCost | undefined {
  const paid = runs.filter(({ simulated, cost }) => !simulated && cost !== undefined);
  const simulated = paid.length === 0;
  const usd = medianOf((simulated ? runs : paid).flatMap(({ cost }) => cost ?? []));
  return usd === undefined ? undefined : { usd, simulated };
}

const ORDER: readonly Lamp[] = ["done", "blue", "cut", "waiting", "failed", "running"];

function endingsOf(runs: readonly RunLine[]): readonly Ending[] {
  const byName = Map.groupBy(runs, (run) => `${statusText(run)} ${runLamp(run)}`);
  const found = [...byName.values()].flatMap(([run, ...more]) =>
    run ? [{ name: statusText(run), lamp: runLamp(run), count: 1 + more.length }] : [],
  );
  return found.toSorted((a, b) => ORDER.indexOf(a.lamp) - ORDER.indexOf(b.lamp) || b.count - a.count);
}

/** Runs that are running, or were stopped by a user or a limit, do not count. */
function shareOf(endings: readonly Ending[]): number | undefined {
  const count = (lamps: readonly Lamp[]) =>
    endings.filter(({ lamp }) => lamps.includes(lamp)).reduce((sum, ending) => sum + ending.count, 0);
  const [well, all] = [count(["done"]), count(["done", "failed"])];
  if (all === 0) return undefined;
  // 100% means no failure at all, so that one failure among a thousand is visible.
  return well === all ? 100 : Math.min(99, Math.round((well / all) * 100));
}

function medianOf(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)];
}

interface RunPage {
  runs: readonly RunLine[];
  /** The cursor of older runs. Undefined if there are none. */
  next: string | undefined;
}

/** Merge fresh runs with older ones that were loaded before. */
export function joinRuns(fresh: RunPage, known: RunPage): RunPage {
  const page = ({ runs, next }: RunPage) => ({ items: runs, next });
  const { items, next } = joinPages(page(fresh), page(known), ({ runId }) => runId);
  return { runs: items, next };
}

/** "now", "3 min ago", "2 h ago", "4 d ago". */
export function ago(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ago` : `${Math.floor(hours / 24)} d ago`;
}

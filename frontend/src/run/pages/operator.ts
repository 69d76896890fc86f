// What the operator's page says: what pulling the lever does, who decides, and how the runs of each loop ended.
import type { Lever, LeverState, RunLine } from "../../types/models.ts";
import type { Lamp } from "../answer/stops.ts";
import { endingOf, plural } from "../wording/statusAndAmounts.ts";

export const KILLED =
  "TOOL_LOOP_V2=false is set in the server's environment and overrides this setting. Remove it and restart the server to change the loop here.";

/** What pulling the lever there does, as a sentence. */
export function effectOf(state: LeverState, percent: number): string {
  const share = `About ${percent}% of conversations use the V2 loop from their next answer; the others use the legacy loop. Each conversation stays with its loop.`;
  const effects: Record<LeverState, string> = {
    off: "All new answers use the legacy loop.",
    percent: share,
    on: "All new answers use the V2 loop.",
  };
  return `${effects[state]} This takes effect immediately and survives restarts. Running answers keep their loop.`;
}

/** Whether the lever stands there already. */
export const standsAt = (lever: Lever, state: LeverState, percent: number): boolean =>
  lever.state === state && (state !== "percent" || lever.percent === percent);

export interface Decider {
  name: string;
  /** How it stands. */
  word: string;
  decides: boolean;
}

/** Who is asked which loop shall answer, in order; the first that has a say decides. */
export function decidersOf({ state, percent, environment }: Lever): readonly Decider[] {
  const words: Record<LeverState, string> = { off: "off", percent: `${percent}%`, on: "on" };
  const says = [
    { name: "Kill switch, TOOL_LOOP_V2=false", word: environment === false ? "set" : "not set" },
    { name: "Operator setting", word: state ? words[state] : "not set" },
    { name: "TOOL_LOOP_V2=true in the environment", word: environment ? "set" : "not set" },
    { name: "Default", word: "the V2 loop" },
  ];
  const first = [environment === false, state !== undefined, environment === true, true].indexOf(true);
  return says.map((say, index) => ({ ...say, decides: index === first }));
}

type Ended = Pick<RunLine, "status" | "code">;

export const runLamp = (run: Ended): Lamp => (run.status === "running" ? "running" : endingOf(asEnd(run)).lamp);

/** How it stands with a run, in the words of the chat. */
export const statusWords = (run: Ended): string =>
  run.status === "running" ? "Running" : endingOf(asEnd(run)).label || "Complete";

const asEnd = ({ status, code }: Ended) => ({ status, ...(code !== undefined && { code }) });

/** "2 stopped": within a sentence. */
export const inList = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1);

/** The code where it says more than the status. */
export const codeOf = ({ status, code }: RunLine): string | undefined =>
  code?.toLowerCase() === status ? undefined : code;

/** One way to end, and how many runs did. */
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
  /** The good ones first, those under way last. */
  endings: readonly Ending[];
  /** How many of 100 runs ended well, of those that a reader let end; undefined where none did. */
  share: number | undefined;
  /** The median time. */
  ms: number | undefined;
  cost: MedianCost | undefined;
}

/** The runs by loop, both loops always there, legacy first. */
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
    ms: middle(runs.flatMap(({ ms }) => ms ?? [])),
    cost: costOf(runs),
  };
}

/** Of the runs that were paid for; where all were simulated, of what they would have cost. */
function costOf(runs: readonly RunLine[]): MedianCost | undefined {
  const paid = runs.filter(({ simulated, cost }) => !simulated && cost !== undefined);
  const simulated = paid.length === 0;
  const usd = middle((simulated ? runs : paid).flatMap(({ cost }) => cost ?? []));
  return usd === undefined ? undefined : { usd, simulated };
}

const ORDER: readonly Lamp[] = ["done", "blue", "cut", "waiting", "failed", "running"];

function endingsOf(runs: readonly RunLine[]): readonly Ending[] {
  const byName = Map.groupBy(runs, (run) => `${statusWords(run)} ${runLamp(run)}`);
  const found = [...byName.values()].flatMap(([run, ...more]) =>
    run ? [{ name: statusWords(run), lamp: runLamp(run), count: 1 + more.length }] : [],
  );
  return found.toSorted((a, b) => ORDER.indexOf(a.lamp) - ORDER.indexOf(b.lamp) || b.count - a.count);
}

/** A run that a reader or a limit has stopped, or that has not ended yet, says nothing of the loop. */
function shareOf(endings: readonly Ending[]): number | undefined {
  const count = (lamps: readonly Lamp[]) =>
    endings.filter(({ lamp }) => lamps.includes(lamp)).reduce((sum, ending) => sum + ending.count, 0);
  const [well, all] = [count(["done"]), count(["done", "failed"])];
  if (all === 0) return undefined;
  // Only a clean sheet is 100 %: one failure among a thousand has to be seen.
  return well === all ? 100 : Math.min(99, Math.round((well / all) * 100));
}

function middle(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)];
}

/** Empty: all of them. */
export interface RunFilter {
  loop: string;
  status: string;
}

export const filterRuns = (runs: readonly RunLine[], { loop, status }: RunFilter): readonly RunLine[] =>
  runs.filter((run) => (!loop || run.loop === loop) && (!status || run.status === status));

interface RunPage {
  runs: readonly RunLine[];
  /** Where older ones begin; undefined: there are none. */
  next: string | undefined;
}

/** A page that stays open for days does not grow for days. */
const MOST_SHOWN = 1000;

/** The newest runs as they are now, with the older ones that were read before behind them. */
export function joinRuns(fresh: RunPage, known: RunPage): RunPage {
  const last = fresh.runs.at(-1);
  if (!last || fresh.next === undefined) return fresh;
  const ids = new Set(fresh.runs.map(({ runId }) => runId));
  const meets = known.runs.findLastIndex(({ runId }) => ids.has(runId));
  const older = known.runs.slice(meets + 1);
  // Where the two do not meet, runs are missing in between.
  return meets < 0 || older.length === 0 || fresh.runs.length + older.length > MOST_SHOWN
    ? fresh
    : { runs: [...fresh.runs, ...older], next: known.next };
}

/** "now", "3 min ago", "2 h ago", "4 d ago". */
export function ago(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ago` : `${Math.floor(hours / 24)} d ago`;
}

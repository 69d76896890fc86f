// Measures a long answer while it streams: the cost per frame and token at its beginning, middle and end.
import { ask, ended, openTab, type Sample, sample } from "./browser.ts";
import { mean, percentile, type Row, short } from "./figures.ts";
import type { Kind } from "./texts.ts";
import type { Upstream } from "./upstream.ts";

const TENTHS = 10;
const ASKED = 200;
const STUCK_MS = 10_000;

export interface AnswerResult {
  kind: Kind;
  tokens: number;
  tenths: readonly Tenth[];
  /** The last tenth relative to the second. During the first tenth, the renderer is still loading. */
  ratio: { frame: number; script: number; task: number };
  nodes: number;
  heapMb: number;
}

export interface Tenth {
  tokens: number;
  frameP50: number;
  frameP95: number;
  frameMax: number;
  longTasks: number;
  /** Main-thread microseconds per token. */
  script: number;
  layout: number;
  style: number;
  task: number;
  /** Main-thread microseconds per React commit. */
  taskPerCommit: number;
  commitsPerFrame: number;
  parsesPerCommit: number;
  charactersPerCommit: number;
  nodes: number;
  heapMb: number;
}

export async function measureAnswer(
  url: string,
  upstream: Upstream,
  { kind, tokens, rate }: { kind: Kind; tokens: number; rate: number },
): Promise<AnswerResult> {
  const tab = await openTab(url);
  try {
    // Renderer and highlighter are loaded before the measured answer.
    await ask(tab.page, "say realistic 400 0");
    await ended(tab.page);
    upstream.sent = 0;
    await sample(tab);
    await ask(tab.page, `say ${kind} ${tokens} ${rate}`);
    const tenths: Tenth[] = [];
    await reached(upstream, ASKED);
    let before = await sample(tab);
    let sent = upstream.sent;
    for (let tenth = 1; tenth <= TENTHS; tenth++) {
      await reached(upstream, (tokens * tenth) / TENTHS);
      const now = await sample(tab);
      tenths.push(tenthOf(before, now, upstream.sent - sent));
      [before, sent] = [now, upstream.sent];
    }
    await ended(tab.page);
    const { nodes, heapMb } = await sample(tab);
    const [first, last] = [tenths[0], tenths.at(-1)];
    if (!first || !last) throw new Error("nothing was measured");
    return {
      ...{ kind, tokens, tenths, nodes, heapMb },
      ratio: {
        frame: last.frameP50 / first.frameP50,
        script: last.script / first.script,
        task: last.task / first.task,
      },
    };
  } finally {
    await tab.close();
  }
}

/** Wait until the model has sent this many tokens. */
async function reached(upstream: Upstream, tokens: number): Promise<void> {
  let [seen, at] = [upstream.sent, performance.now()];
  while (upstream.sent < tokens) {
    await sleep(20);
    if (upstream.sent > seen) [seen, at] = [upstream.sent, performance.now()];
    else if (performance.now() - at > STUCK_MS) throw new Error(`the answer stands at ${seen} tokens`);
  }
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function tenthOf(before: Sample, now: Sample, tokens: number): Tenth {
  const each = (name: "script" | "layout" | "style" | "task") => ((now[name] - before[name]) / tokens) * 1e6;
  const commits = now.commits - before.commits;
  return {
    tokens,
    frameP50: percentile(now.frames, 0.5),
    frameP95: percentile(now.frames, 0.95),
    frameMax: Math.max(...now.frames),
    longTasks: now.longTasks.length,
    script: each("script"),
    layout: each("layout"),
    style: each("style"),
    task: each("task"),
    taskPerCommit: ((now.task - before.task) / commits) * 1e6,
    commitsPerFrame: commits / now.frames.length,
    parsesPerCommit: (now.parses - before.parses) / commits,
    charactersPerCommit: (now.characters - before.characters) / commits,
    nodes: now.nodes,
    heapMb: now.heapMb,
  };
}

/** The first, middle and last tenth of each answer. */
export const answerRows = (results: readonly AnswerResult[]): readonly Row[] =>
  results.flatMap(({ kind, tokens, tenths }) =>
    [0, 4, 9].flatMap((at) => {
      const tenth = tenths[at];
      return tenth ? [rowOf(`${kind} ${tokens}`, `${at * 10}-${at * 10 + 10} %`, tenth)] : [];
    }),
  );

const rowOf = (answer: string, part: string, tenth: Tenth): Row => ({
  answer,
  part,
  "frame p50 ms": short(tenth.frameP50),
  "p95 ms": short(tenth.frameP95),
  "max ms": short(tenth.frameMax),
  "long tasks": tenth.longTasks,
  "script µs/token": short(tenth.script),
  "layout µs/token": short(tenth.layout),
  "style µs/token": short(tenth.style),
  "all µs/token": short(tenth.task),
  "all µs/commit": short(tenth.taskPerCommit),
  "commits/frame": short(tenth.commitsPerFrame),
  "parses/commit": short(tenth.parsesPerCommit),
  "characters/commit": short(tenth.charactersPerCommit),
  nodes: tenth.nodes,
  "heap MB": short(tenth.heapMb),
});

export const ratioRows = (results: readonly AnswerResult[]): readonly Row[] =>
  results.map(({ kind, tokens, ratio, nodes, heapMb, tenths }) => ({
    answer: `${kind} ${tokens}`,
    "frame last/first": short(ratio.frame),
    "script last/first": short(ratio.script),
    "all last/first": short(ratio.task),
    "longest frame ms": short(Math.max(...tenths.map((tenth) => tenth.frameMax))),
    "mean frame p95 ms": short(mean(tenths.map((tenth) => tenth.frameP95))),
    nodes,
    "heap MB": short(heapMb),
  }));

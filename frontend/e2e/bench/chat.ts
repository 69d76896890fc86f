// Measures a chat of 1,000 messages: opening, scrolling from end to beginning and back, and typing.
import { ended, message, openTab, type Sample, sample, type Tab } from "./browser.ts";
import { percentile, type Row, short } from "./figures.ts";

/** The project's limit. */
export const MOST_NODES = 12_000;

const STEP_PX = 250;
const KEYS = 60;

export interface ChatResult {
  messages: number;
  /** Milliseconds until the last answer is rendered. */
  openMs: number;
  nodesAtEnd: number;
  heapMb: number;
  up: Scrolled;
  down: Scrolled;
  /** Milliseconds from a key press to the next frame. */
  keyP50: number;
  keyP95: number;
}

interface Scrolled {
  frames: number;
  frameP50: number;
  frameP95: number;
  frameMax: number;
  /** The share of frames that were dropped. */
  dropped: number;
  longTasks: number;
  mostNodes: number;
}

/** Create a conversation with this many turns through the API. */
export async function makeChat(url: string, turns: number): Promise<string> {
  const conversation = crypto.randomUUID();
  let parent: string | null = null;
  for (let turn = 0; turn < turns; turn++) {
    const content = turn % 5 === 0 ? "say realistic 400 0" : "say words 60 0";
    const response: Response = await fetch(`${url}/api/chat/stream`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        ...{ model: "bench/model", conversation_id: conversation, parent_id: parent },
        messages: [{ role: "user", content: `Question ${turn + 1}: ${content}` }],
      }),
    });
    if (!response.ok) throw new Error(`the server answers ${response.status}: ${await response.text()}`);
    const run: string | null = response.headers.get("x-run-id");
    await response.text();
    if (!run) throw new Error("the run has no name");
    parent = run;
  }
  return conversation;
}

export async function measureChat(url: string, turns: number): Promise<ChatResult> {
  const conversation = await makeChat(url, turns);
  const tab = await openTab(`${url}/#c=${conversation}`);
  try {
    await ended(tab.page);
    const openMs = await tab.page.evaluate(() => performance.now());
    await settled(tab);
    const opened = await sample(tab);
    const up = await scroll(tab, -STEP_PX);
    const down = await scroll(tab, STEP_PX);
    const keys = await type(tab);
    return {
      ...{ messages: turns * 2, openMs, nodesAtEnd: opened.nodes, heapMb: opened.heapMb, up, down },
      ...{ keyP50: percentile(keys, 0.5), keyP95: percentile(keys, 0.95) },
    };
  } finally {
    await tab.close();
  }
}

const settled = (tab: Tab) => tab.page.waitForTimeout(1000);

/** Scroll one step per frame until the end. */
async function scroll(tab: Tab, step: number): Promise<Scrolled> {
  await sample(tab);
  const mostNodes = await tab.page.evaluate(async (by) => {
    const box = document.querySelector("main");
    if (!box) throw new Error("there is no chat");
    // The follower must see that the user scrolls up.
    if (by < 0) box.dispatchEvent(new WheelEvent("wheel", { deltaY: by, bubbles: true }));
    const nodes = () => document.getElementsByTagName("*").length;
    let [most, still] = [nodes(), 0];
    while (still < 30) {
      const before = box.scrollTop;
      box.scrollTop += by;
      await new Promise(requestAnimationFrame);
      most = Math.max(most, nodes());
      still = Math.abs(box.scrollTop - before) < 1 ? still + 1 : 0;
    }
    return most;
  }, step);
  return scrolledOf(await sample(tab), mostNodes);
}

const FRAME_MS = 1000 / 60;

function scrolledOf({ frames, longTasks }: Sample, mostNodes: number): Scrolled {
  const missed = frames.reduce((sum, frame) => sum + Math.max(0, Math.round(frame / FRAME_MS) - 1), 0);
  return {
    frames: frames.length,
    frameP50: percentile(frames, 0.5),
    frameP95: percentile(frames, 0.95),
    frameMax: Math.max(...frames),
    dropped: missed / (missed + frames.length),
    longTasks: longTasks.length,
    mostNodes,
  };
}

/** Milliseconds from each key press to the next frame. */
async function type(tab: Tab): Promise<readonly number[]> {
  await message(tab.page).focus();
  await tab.page.evaluate(() => {
    const times: number[] = [];
    (globalThis as unknown as { typed: number[] }).typed = times;
    addEventListener("keydown", ({ timeStamp }) =>
      requestAnimationFrame(() => {
        const channel = new MessageChannel();
        channel.port1.onmessage = () => times.push(performance.now() - timeStamp);
        channel.port2.postMessage(0);
      }),
    );
  });
  await tab.page.keyboard.type("All of these words are typed while a long chat is open. ".slice(0, KEYS), {
    delay: 30,
  });
  return tab.page.evaluate(() => (globalThis as unknown as { typed: number[] }).typed);
}

export function chatRows(result: ChatResult): readonly Row[] {
  const row = (
    what: string,
    { frames, frameP50, frameP95, frameMax, dropped, longTasks, mostNodes }: Scrolled,
  ): Row => ({
    "1,000 messages": what,
    frames,
    "frame p50 ms": short(frameP50),
    "p95 ms": short(frameP95),
    "max ms": short(frameMax),
    "dropped %": short(dropped * 100),
    "long tasks": longTasks,
    "most nodes": mostNodes,
  });
  return [row("to the beginning", result.up), row("to the end", result.down)];
}

export const openRows = ({ messages, openMs, nodesAtEnd, heapMb, keyP50, keyP95 }: ChatResult): readonly Row[] => [
  {
    messages,
    "open ms": short(openMs),
    nodes: nodesAtEnd,
    "heap MB": short(heapMb),
    "key to frame p50 ms": short(keyP50),
    "p95 ms": short(keyP95),
  },
];

// The page in a real browser, instrumented to count its work.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, type CDPSession, chromium, type Page } from "@playwright/test";
import { FLAGS } from "./flags.ts";

/** Counters in the page, installed before its first script runs. */
export interface Counts {
  parses: number;
  characters: number;
  /** React commits. */
  commits: number;
  frames: number[];
  longTasks: number[];
}

export interface Tab {
  page: Page;
  cdp: CDPSession;
  close: () => Promise<void>;
}

export interface Sample {
  /** Seconds of main-thread time since the page was loaded. */
  script: number;
  layout: number;
  style: number;
  task: number;
  nodes: number;
  heapMb: number;
  parses: number;
  characters: number;
  commits: number;
  frames: readonly number[];
  longTasks: readonly number[];
}

const MODEL = "bench/model";

/** Open the page. `compared` is the number of models to compare. */
export async function openTab(url: string, compared = 0): Promise<Tab> {
  const home = mkdtempSync(join(tmpdir(), "signalbox-page-bench-home-"));
  const context: BrowserContext = await chromium.launchPersistentContext(join(home, "profile"), {
    executablePath: process.env.CHROMIUM_PATH ?? "/usr/bin/chromium",
    env: { ...process.env, HOME: home } as Record<string, string>,
    args: FLAGS,
    viewport: { width: 1280, height: 800 },
  });
  const page = context.pages()[0] ?? (await context.newPage());
  page.on("pageerror", (error) => console.error(`error in the page: ${error.message}`));
  await page.addInitScript(instrument);
  const models = Array.from({ length: compared }, (_, at) => `${MODEL}-${at + 1}`);
  const settings = JSON.stringify({ version: 1, ask: { model: MODEL }, compared: models });
  await page.addInitScript((kept) => localStorage.setItem("signalbox.settings", kept), settings);
  const cdp = await context.newCDPSession(page);
  await cdp.send("Performance.enable");
  await page.goto(url);
  return {
    page,
    cdp,
    close: async () => {
      await context.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** Runs in the page. */
function instrument(): void {
  const counts: Counts = { parses: 0, characters: 0, commits: 0, frames: [], longTasks: [] };
  const scope = globalThis as unknown as Record<string, unknown>;
  scope.__signalboxCounts = counts;
  // The hook of React's developer tools reports every commit.
  scope.__REACT_DEVTOOLS_GLOBAL_HOOK__ = {
    supportsFiber: true,
    inject: () => 1,
    onCommitFiberRoot: () => {
      counts.commits += 1;
    },
    onCommitFiberUnmount: () => undefined,
    onPostCommitFiberRoot: () => undefined,
    checkDCE: () => undefined,
  };
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) counts.longTasks.push(duration);
  }).observe({ entryTypes: ["longtask"] });
  let last = performance.now();
  const frame = (now: number) => {
    counts.frames.push(now - last);
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}

/** The counts since the last sample. Durations are since the page was loaded. */
export async function sample({ page, cdp }: Tab): Promise<Sample> {
  const counts = await page.evaluate(() => {
    const all = (globalThis as unknown as { __signalboxCounts: Counts }).__signalboxCounts;
    const seen = { ...all, frames: all.frames, longTasks: all.longTasks, nodes: document.querySelectorAll("*").length };
    all.frames = [];
    all.longTasks = [];
    return seen;
  });
  const { metrics } = await cdp.send("Performance.getMetrics");
  const of = (name: string): number => metrics.find((metric) => metric.name === name)?.value ?? 0;
  return {
    ...counts,
    script: of("ScriptDuration"),
    layout: of("LayoutDuration"),
    style: of("RecalcStyleDuration"),
    task: of("TaskDuration"),
    heapMb: of("JSHeapUsedSize") / 1e6,
  };
}

export const message = (page: Page) => page.getByRole("textbox", { name: "Message" });

export async function ask(page: Page, text: string): Promise<void> {
  await message(page).fill(text);
  await page.keyboard.press("Enter");
}

/** Wait for the answer to finish. */
export async function ended(page: Page): Promise<void> {
  await page.locator("[data-part=end]").last().waitFor({ state: "attached" });
  await page.waitForFunction(() => !document.querySelector("[data-part=running]"));
}

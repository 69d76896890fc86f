// Measures a DataTable of 1,000 rows, as a table and as cards: showing, sorting, filtering and scrolling it.
import { answerWithTable, largeTable } from "../support/largeTable.ts";
import { ask, ended, openTab, sample, type Tab } from "./browser.ts";
import { percentile, type Row, short } from "./figures.ts";

const WIDTHS = { table: 1280, cards: 390 } as const;
export type Form = keyof typeof WIDTHS;

const SPEEDS = { slow: 100, fast: 700 } as const;
const FRAMES = 120;

/** Runs in the page. */
interface Probe {
  /** Milliseconds from the action until the frame whose first row has this price. */
  until: (price: string, action: () => void) => Promise<number>;
  sortBy: (option: string) => void;
  filter: (text: string) => void;
  /** Scroll by this distance in each frame, forth and back. Resolves to the largest number of elements. */
  scroll: (by: number, frames: number) => Promise<number>;
}

export interface TableResult {
  form: Form;
  rows: number;
  /** Milliseconds. */
  shown: number;
  ascending: number;
  descending: number;
  filtered: number;
  longestTask: number;
  slow: Scrolled;
  fast: Scrolled;
  nodes: number;
  heapMb: number;
}

interface Scrolled {
  perSecond: number;
  p95: number;
  mostNodes: number;
}

export async function measureTable(url: string, form: Form, rows: number): Promise<TableResult> {
  const tab = await openTab(url);
  const { page } = tab;
  try {
    await page.setViewportSize({ width: WIDTHS[form], height: 800 });
    await page.addInitScript(probe);
    // The first table loads the script of tables.
    await answerWithTable(page, largeTable(1));
    await page.goto(url);
    await ask(page, "How many red mugs are in stock?");
    await ended(page);
    await page.locator("[data-part=table]").waitFor();
    await answerWithTable(page, largeTable(rows));
    await sample(tab);
    const shown = await page.evaluate(
      async (first) => {
        const { until } = (globalThis as unknown as { probe: Probe }).probe;
        const send = document.querySelector("form")?.querySelector("textarea");
        if (!send) throw new Error("there is no message box");
        Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value")?.set?.call(send, "And the rest?");
        send.dispatchEvent(new Event("input", { bubbles: true }));
        await new Promise(requestAnimationFrame);
        return until(first, () =>
          send.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true })),
        );
      },
      `$${largeTable(rows).data[0]?.price}.00`,
    );
    await ended(page);
    await sample(tab);
    const times = await page.evaluate(async (most) => {
      const { until, sortBy, filter } = (globalThis as unknown as { probe: Probe }).probe;
      const ascending = await until("$1.00", () => sortBy("Price, ascending"));
      const descending = await until(`$${most}.00`, () => sortBy("Price, descending"));
      const filtered = await until("$77.00", () => filter("$77.00"));
      await until(`$${most}.00`, () => filter(""));
      return { ascending, descending, filtered };
    }, rows.toLocaleString("en-US"));
    const acted = await sample(tab);
    const slow = await scrolled(tab, SPEEDS.slow);
    const fast = await scrolled(tab, SPEEDS.fast);
    const { nodes, heapMb } = await sample(tab);
    return { form, rows, shown, ...times, longestTask: Math.max(0, ...acted.longTasks), slow, fast, nodes, heapMb };
  } finally {
    await tab.close();
  }
}

async function scrolled(tab: Tab, by: number): Promise<Scrolled> {
  await tab.page.waitForTimeout(500);
  await sample(tab);
  const mostNodes = await tab.page.evaluate(
    ([by, frames]) => (globalThis as unknown as { probe: Probe }).probe.scroll(by, frames),
    [by, FRAMES] as const,
  );
  const { frames } = await sample(tab);
  const total = frames.reduce((sum, frame) => sum + frame, 0);
  return { perSecond: (frames.length / total) * 1000, p95: percentile(frames, 0.95), mostNodes };
}

/** Runs in the page. */
function probe(): void {
  const table = () => [...document.querySelectorAll("[data-part=table]")].at(-1);
  const firstPrice = () =>
    table()?.querySelector("tbody td:nth-child(2), li dl > :nth-child(2) dd, li dd:nth-of-type(2)")?.textContent;
  const frame = () => new Promise(requestAnimationFrame);
  const set = (field: Element | null | undefined, type: "input" | "change", value: string) => {
    if (!(field instanceof HTMLInputElement || field instanceof HTMLSelectElement)) return;
    const { prototype } = field.constructor as typeof HTMLInputElement;
    Object.getOwnPropertyDescriptor(prototype, "value")?.set?.call(field, value);
    field.dispatchEvent(new Event(type, { bubbles: true }));
  };
  const made: Probe = {
    until: async (price, action) => {
      const began = performance.now();
      action();
      while (firstPrice() !== price) {
        await frame();
        if (performance.now() - began > 20_000) throw new Error(`the first price is ${firstPrice()}, not ${price}`);
      }
      await frame();
      await new Promise<void>((resolve) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => resolve();
        port2.postMessage(0);
      });
      return performance.now() - began;
    },
    sortBy: (option) => {
      const select = table()?.querySelector("select");
      const chosen = [...(select?.options ?? [])].find(({ text }) => text === option);
      if (select && chosen) return set(select, "change", chosen.value);
      // A heading sorts up first, and down when it is pressed again.
      const headings = [...(table()?.querySelectorAll("th") ?? [])];
      headings
        .find(({ textContent }) => option.startsWith(`${textContent}, `))
        ?.querySelector("button")
        ?.click();
    },
    filter: (text) => set(table()?.querySelector("input[type=search]"), "input", text),
    scroll: async (by, frames) => {
      let box = table()?.querySelector("tbody tr, li")?.parentElement;
      while (box && !(/auto|scroll/.test(getComputedStyle(box).overflowY) && box.scrollHeight > box.clientHeight))
        box = box.parentElement;
      if (!box) throw new Error("nothing scrolls");
      let most = 0;
      for (let at = 0; at < frames; at++) {
        box.scrollTop += at < frames / 2 ? by : -by;
        await frame();
        most = Math.max(most, document.getElementsByTagName("*").length);
      }
      return most;
    },
  };
  (globalThis as unknown as { probe: Probe }).probe = made;
}

export const tableRows = (results: readonly TableResult[]): readonly Row[] =>
  results.map((result) => ({
    form: result.form,
    rows: result.rows,
    "shown ms": short(result.shown),
    "ascending ms": short(result.ascending),
    "descending ms": short(result.descending),
    "filtered ms": short(result.filtered),
    "longest task ms": short(result.longestTask),
    "slow fps": short(result.slow.perSecond),
    "p95 ms": short(result.slow.p95),
    "fast fps": short(result.fast.perSecond),
    "fast p95 ms": short(result.fast.p95),
    nodes: result.nodes,
    "most nodes": Math.max(result.nodes, result.slow.mostNodes, result.fast.mostNodes),
    "heap MB": short(result.heapMb),
  }));

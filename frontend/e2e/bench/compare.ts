// Measures four answers that stream side by side.
import { ask, ended, openTab, sample } from "./browser.ts";
import { percentile, type Row, short } from "./figures.ts";
import type { Upstream } from "./upstream.ts";

const COLUMNS = 4;

export async function measureCompare(url: string, upstream: Upstream, tokens: number, rate: number): Promise<Row> {
  const tab = await openTab(url, COLUMNS);
  try {
    await ask(tab.page, "say realistic 40 0");
    await tab.page
      .locator("[data-part=column] [data-part=end]")
      .nth(COLUMNS - 1)
      .waitFor();
    upstream.sent = 0;
    const before = await sample(tab);
    await ask(tab.page, `say realistic ${tokens} ${rate}`);
    while (upstream.sent < tokens * COLUMNS * 0.98) await tab.page.waitForTimeout(50);
    const now = await sample(tab);
    await ended(tab.page);
    return {
      columns: COLUMNS,
      "tokens each": tokens,
      "frame p50 ms": short(percentile(now.frames, 0.5)),
      "p95 ms": short(percentile(now.frames, 0.95)),
      "max ms": short(Math.max(...now.frames)),
      "long tasks": now.longTasks.length,
      "script µs/token": short(((now.script - before.script) / upstream.sent) * 1e6),
      "all µs/token": short(((now.task - before.task) / upstream.sent) * 1e6),
      nodes: now.nodes,
      "heap MB": short(now.heapMb),
    };
  } finally {
    await tab.close();
  }
}

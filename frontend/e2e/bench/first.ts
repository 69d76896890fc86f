// Measures the first visit: empty cache, Lighthouse's mobile network, CPU slowed down four times.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, type CDPSession, chromium } from "@playwright/test";
import { catalogue } from "../../src/fixtures/catalogue.ts";
import { percentile, type Row, short } from "./figures.ts";
import { FLAGS } from "./flags.ts";

/** Lighthouse's "Slow 4G": 150 ms round trip, 1.6 Mbit/s down, 750 kbit/s up. Handshakes are not slowed down. */
const LINE = { offline: false, latency: 150, downloadThroughput: 1.6e6 / 8, uploadThroughput: 7.5e5 / 8 };
const CPU = 4;
const PHONE = { viewport: { width: 412, height: 823 }, deviceScaleFactor: 1.75, isMobile: true, hasTouch: true };
const LONGEST_MS = 60_000;

/** The size of a large provider catalogue. */
export const LISTED = 1_700;

/** A catalogue in the format of OpenRouter's `/models`. */
export const listed = (count: number): readonly object[] =>
  catalogue(count).map(({ id, name, badges, context, maxOutput, pricing, parameters }, at) => ({
    id,
    name,
    created: 1_700_000_000 + at * 7_919,
    context_length: context,
    architecture: {
      modality: "text->text",
      input_modalities: badges.includes("images") ? ["text", "image"] : ["text"],
    },
    pricing: {
      ...{ prompt: String(pricing.prompt ?? -1), completion: String(pricing.completion ?? -1) },
      ...{ request: "0", image: "0", web_search: "0", internal_reasoning: "0" },
    },
    top_provider: { context_length: context, max_completion_tokens: maxOutput, is_moderated: false },
    supported_parameters: parameters,
  }));

/** Milliseconds since the navigation began. */
export interface Visit {
  firstPaint: number;
  largestPaint: number;
  /** The picker shows the name of the model. */
  modelKnown: number;
  layoutShift: number;
  /** Transferred bytes until then, including headers. */
  kilobytes: number;
  requests: number;
}

interface Seen {
  firstPaint: number;
  largestPaint: number;
  modelKnown: number;
  layoutShift: number;
}

declare global {
  interface Window {
    firstVisit: Seen;
  }
}

/** Visit the page this many times, each time with an empty cache. */
export async function measureFirstVisit(url: string, times: number): Promise<readonly Visit[]> {
  const home = mkdtempSync(join(tmpdir(), "signalbox-page-bench-home-"));
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM_PATH ?? "/usr/bin/chromium",
    env: { ...process.env, HOME: home } as Record<string, string>,
    args: FLAGS,
  });
  try {
    const visits: Visit[] = [];
    for (let at = 0; at < times; at++) visits.push(await visit(browser, url));
    return visits;
  } finally {
    await browser.close();
    rmSync(home, { recursive: true, force: true });
  }
}

async function visit(browser: Browser, url: string): Promise<Visit> {
  const context = await browser.newContext(PHONE);
  try {
    const page = await context.newPage();
    await page.addInitScript(watch);
    const cdp = await context.newCDPSession(page);
    const traffic = await slowDown(cdp);
    await page.goto(url, { waitUntil: "commit" });
    await page.waitForFunction(() => window.firstVisit.modelKnown > 0, undefined, { timeout: LONGEST_MS });
    const { bytes, requests } = { ...traffic };
    await page.waitForLoadState("networkidle");
    return { ...(await page.evaluate(() => window.firstVisit)), kilobytes: bytes / 1000, requests };
  } finally {
    await context.close();
  }
}

async function slowDown(cdp: CDPSession): Promise<{ bytes: number; requests: number }> {
  const traffic = { bytes: 0, requests: 0 };
  await cdp.send("Network.enable");
  await cdp.send("Network.emulateNetworkConditions", LINE);
  await cdp.send("Emulation.setCPUThrottlingRate", { rate: CPU });
  cdp.on("Network.loadingFinished", ({ encodedDataLength }) => {
    traffic.bytes += encodedDataLength;
    traffic.requests += 1;
  });
  return traffic;
}

/** Runs in the page. */
function watch(): void {
  const seen: Seen = { firstPaint: 0, largestPaint: 0, modelKnown: 0, layoutShift: 0 };
  window.firstVisit = seen;
  const observe = (type: string, take: (entry: PerformanceEntry) => void) =>
    new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true });
  observe("paint", ({ name, startTime }) => {
    if (name === "first-contentful-paint") seen.firstPaint = startTime;
  });
  observe("largest-contentful-paint", ({ startTime }) => {
    seen.largestPaint = startTime;
  });
  observe("layout-shift", (entry) => {
    seen.layoutShift += (entry as PerformanceEntry & { value: number }).value;
  });
  new MutationObserver((_, self) => {
    // Without a list, the button has no title and says "Choose a model".
    if (!document.querySelector("[data-part=model][title]:not([title=''])")) return;
    seen.modelKnown = performance.now();
    self.disconnect();
  }).observe(document, { subtree: true, childList: true, attributes: true });
}

export const visitRows = (shapes: Readonly<Record<string, readonly Visit[]>>): readonly Row[] =>
  Object.entries(shapes).map(([catalogue, visits]) => {
    const median = (name: keyof Visit) =>
      short(
        percentile(
          visits.map((one) => one[name]),
          0.5,
        ),
      );
    return {
      catalogue,
      visits: visits.length,
      "first paint ms": median("firstPaint"),
      "largest paint ms": median("largestPaint"),
      "model known ms": median("modelKnown"),
      "layout shift": median("layoutShift"),
      "kB until then": median("kilobytes"),
      requests: median("requests"),
    };
  });

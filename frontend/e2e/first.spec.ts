// The first visit: its size, the prerendered page, and that nothing moves when the scripts run.
import { ask, ended, expect, expectAccessible, message, type Page, test } from "./support/page.ts";

/** The bytes until the model's name is shown: page, styles, scripts and the model list. */
const MOST_BYTES = 175_000;
/** Focusable elements of the prerendered page. */
const CONTROLS = "a, button, input, label, select, summary, textarea, [tabindex]";
/** Browsers send six requests at a time. */
const MOST_REQUESTS = 14;
/** Including what loads later: fonts, the renderer, the picker's list. */
const MOST_IN_ALL = 385_000;
const SIZES = [
  { width: 375, height: 812 },
  { width: 768, height: 1024 },
  { width: 1440, height: 900 },
];

interface Fetched {
  path: string;
  bytes: number;
  encoded: string | undefined;
}

/** Collect all further requests. */
async function fetched(page: Page): Promise<Fetched[]> {
  const cdp = await page.context().newCDPSession(page);
  const all: Fetched[] = [];
  const heads = new Map<string, Fetched>();
  await cdp.send("Network.enable");
  cdp.on("Network.responseReceived", ({ requestId, response: { url, headers } }) => {
    const encoded = headers["content-encoding"];
    heads.set(requestId, { path: new URL(url).pathname, bytes: 0, encoded });
  });
  cdp.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    const head = heads.get(requestId);
    if (head) all.push({ ...head, bytes: encodedDataLength });
  });
  return all;
}

const modelName = (page: Page) => page.locator("[data-part=model][title]:not([title=''])");
const sum = (all: readonly Fetched[]) => all.reduce((bytes, one) => bytes + one.bytes, 0);
const listOf = (all: readonly Fetched[]) => all.map(({ path, bytes }) => `${path} ${bytes}`).join("\n");

/** The files that the document names, which load before the first script runs. */
async function named(page: Page): Promise<readonly string[]> {
  const html = await (await page.request.get("/")).text();
  return [...html.matchAll(/(?:src|href)="(\/[^"]+\.(?:js|css))"/g)].map(([, path = ""]) => path);
}

test("the first visit is small", async ({ page }) => {
  const all = await fetched(page);
  await page.goto("/");
  await expect(modelName(page)).toBeVisible();
  await page.waitForLoadState("networkidle");
  const first = new Set(["/", "/api/models", ...(await named(page))]);
  const waitedFor = all.filter(({ path }) => first.has(path));
  expect(waitedFor.map(({ path }) => path)).toContain("/api/models");
  expect(waitedFor.length, listOf(waitedFor)).toBeLessThanOrEqual(MOST_REQUESTS);
  expect(sum(waitedFor), listOf(waitedFor)).toBeLessThan(MOST_BYTES);
  expect(sum(all), listOf(all)).toBeLessThan(MOST_IN_ALL);
  // The icon of 373 bytes fits into one packet uncompressed.
  const whole = all.filter(({ path, bytes, encoded }) => !encoded && bytes > 2_000 && !path.endsWith(".woff2"));
  expect(listOf(whole)).toBe("");
});

test("a second visit requests nothing that is cached", async ({ page }) => {
  await page.goto("/");
  await expect(modelName(page)).toBeVisible();
  await page.waitForLoadState("networkidle");
  const all = await fetched(page);
  await page.reload();
  await expect(modelName(page)).toBeVisible();
  await page.waitForLoadState("networkidle");
  expect(sum(all), listOf(all)).toBeLessThan(15_000);
});

test("the model list is requested once, before the scripts run", async ({ page }) => {
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  const released = await holdScripts(page);
  const listed = page.waitForResponse("**/api/models*");
  await page.goto("/", { waitUntil: "commit" });
  await listed;
  released();
  await expect(modelName(page)).toBeVisible();
  expect(asked.filter((path) => path === "/api/models")).toHaveLength(1);
});

test("a message sent before the rows have loaded is shown once they have", async ({ page }) => {
  let released: () => void = () => undefined;
  const held = new Promise<void>((release) => {
    released = release;
  });
  await page.route("**/assets/Rows-*.js", async (route) => {
    await held;
    await route.continue();
  });
  await page.goto("/");
  await ask(page, "Are you there?");
  await expect(page.locator("main h2:visible")).toHaveCount(0);
  released();
  await ended(page);
  await expect(page.locator("[data-part=question]")).toContainText("Are you there?");
});

/** The positions of the page and of its prerendered version. */
const places = (page: Page) =>
  page.evaluate(() =>
    ["nav", "header", "main", "main h2", "main li:last-child", "footer", "textarea"].map((what) => {
      const shown = [...document.querySelectorAll(what)].find((one) => one.checkVisibility());
      const { x, y, width, height } = shown?.getBoundingClientRect() ?? new DOMRect();
      return `${what} ${[x, y, width, height].map(Math.round).join(" ")}`;
    }),
  );

for (const viewport of SIZES) {
  test(`the page is prerendered before its scripts run, ${viewport.width} px wide`, async ({ page }) => {
    await page.setViewportSize(viewport);
    await page.addInitScript(() => {
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) window.moved.push((entry as unknown as { value: number }).value);
      }).observe({ type: "layout-shift", buffered: true });
      window.moved = [];
    });
    const released = await holdScripts(page);
    await page.goto("/", { waitUntil: "commit" });
    await expect(page.locator("[data-shell] h2:visible")).toHaveCount(1);
    await page.evaluate(() => document.fonts.ready);
    const before = await places(page);
    const usable = page.locator(`[data-shell] :is(${CONTROLS}):not([inert], [inert] *)`);
    expect(await usable.evaluateAll((all) => all.map(({ tagName }) => tagName))).toEqual(["TEXTAREA", "TEXTAREA"]);
    released();
    await expect(modelName(page)).toBeVisible();
    await expect(page.locator("[data-shell]")).toHaveCount(0);
    expect(await places(page)).toEqual(before);
    const moved = await page.evaluate(() => window.moved.reduce((all, one) => all + one, 0));
    expect(moved).toBeLessThan(0.01);
  });
}

/** Hold the page's scripts until the result is called. */
async function holdScripts(page: Page): Promise<() => void> {
  let release: () => void = () => undefined;
  const held = new Promise<void>((released) => {
    release = released;
  });
  await page.route("**/assets/*.js", async (route) => {
    await held;
    await route.continue();
  });
  return release;
}

for (const width of [375, 1280]) {
  test(`text added after an early Enter is kept and not sent, ${width} px wide`, async ({ page }) => {
    await page.setViewportSize({ width, height: 800 });
    const release = await holdScripts(page);
    const visits: string[] = [];
    page.on("framenavigated", (frame) => visits.push(frame.url()));
    await page.goto("/", { waitUntil: "commit" });
    const early = drawing(page).getByRole("textbox", { name: "Message" });
    // In a wide window, the message box has the focus. On a phone, that would open the keyboard.
    if (width === 375) await early.click();
    await expect(early).toBeFocused();
    await page.keyboard.type("Will it");
    await page.keyboard.press("Enter");
    await page.keyboard.type(" rain?");
    await expect(early).toHaveValue("Will it rain?");
    await expectAccessible(page);
    await page.keyboard.press("ArrowLeft");
    release();
    await expect(page.locator("[data-shell]")).toHaveCount(0);
    await expect(message(page)).toBeFocused();
    await page.keyboard.type("!");
    await expect(message(page)).toHaveValue("Will it rain!?");
    await expect(page.locator("[data-part=question]")).toHaveCount(0);
    await page.keyboard.press("Enter");
    await ended(page);
    await expect(page.locator("[data-part=question]")).toContainText("Will it rain!?");
    expect(visits.filter((url) => !url.includes("#"))).toHaveLength(1);
  });
}

test("Enter before the scripts run sends the message once, when they do", async ({ page }) => {
  const posted: unknown[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/api/chat/stream")) posted.push(request.postDataJSON().messages[0].content);
  });
  const release = await holdScripts(page);
  await page.goto("/", { waitUntil: "commit" });
  await drawing(page).getByRole("textbox", { name: "Message" }).fill("Will it rain?");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  release();
  await ended(page);
  await expect(message(page)).toHaveValue("");
  await page.reload();
  await ended(page);
  await expect(page.locator("[data-part=question]")).toHaveCount(1);
  expect(posted).toEqual(["Will it rain?"]);
});

test("text typed before the scripts run is added to that chat's draft once", async ({ page }) => {
  await page.goto("/");
  await message(page).fill("First.");
  await page.reload();
  await expect(message(page)).toHaveValue("First.");
  const release = await holdScripts(page);
  await page.reload({ waitUntil: "commit" });
  const early = drawing(page).getByRole("textbox", { name: "Message" });
  await expect(early).toHaveValue("");
  await early.fill("Second.");
  // Enter does not send a draft that was not visible.
  await page.keyboard.press("Enter");
  release();
  await expect(message(page)).toHaveValue("First.\n\nSecond.");
  await expect(page.locator("[data-shell]")).toHaveCount(0);
});

const drawing = (page: Page) => page.locator("[data-shell]:visible");

test("a chat opened by its address does not show the empty page first", async ({ page }) => {
  await page.route("**/assets/*.js", () => undefined);
  await page.goto("/#c=some-chat", { waitUntil: "commit" });
  await expect(drawing(page).locator("textarea:visible")).toHaveCount(1);
  await expect(drawing(page).locator("h2:visible")).toHaveCount(0);
});

test("a closed sidebar stays closed from the first paint", async ({ page }) => {
  await page.addInitScript(() => localStorage.setItem("signalbox.settings", '{"version":1,"sidebar":false}'));
  await page.route("**/assets/*.js", () => undefined);
  await page.goto("/", { waitUntil: "commit" });
  await expect(drawing(page).locator("textarea:visible")).toHaveCount(1);
  await expect(drawing(page).locator("nav:visible")).toHaveCount(0);
});

declare global {
  interface Window {
    moved: number[];
  }
}

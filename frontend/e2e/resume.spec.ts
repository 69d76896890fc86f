// One run in several tabs and over lines that break, in a real browser: no gap, nothing twice, and one stop for all.
import { expect, type Page, test } from "@playwright/test";
import { openWire } from "./support/wire.ts";

const words = /\w+ \w+ \w+/;
const answer = (page: Page) => page.locator(".response").last();
const text = (page: Page) => answer(page).locator(".answer, .reasoning").last();
const end = (page: Page) => answer(page).locator(".end");
const letters = (said: string) => said.replaceAll(/[^\p{L}\p{N}]/gu, "");

/** Ask for a long answer, and return its run's id once the first words are there. */
async function askLong(page: Page, count: number): Promise<string> {
  await page.getByRole("combobox", { name: "Model" }).fill(`openai/sim-long-${count}`);
  await page.keyboard.press("Enter");
  const answered = page.waitForResponse("**/api/chat/stream");
  await page.getByRole("textbox", { name: "Message" }).fill("A long answer, please.");
  await page.keyboard.press("Enter");
  const runId = (await answered).headers()["x-run-id"] ?? "";
  await expect(text(page)).toContainText(words);
  return runId;
}

/** Return id and event of every frame that the server kept. */
async function journal(page: Page, runId: string): Promise<{ id: string; data: string }[]> {
  const replay = await (await page.request.get(`/api/runs/${runId}/events`)).text();
  return [...replay.matchAll(/^id: (.*)\ndata: (.*)$/gm)].map(([, id = "", data = ""]) => ({ id, data }));
}

async function said(page: Page, runId: string): Promise<string> {
  const events = (await journal(page, runId)).map(({ data }) => JSON.parse(data));
  return letters(events.map((event) => (event.type === "content" ? event.content : "")).join(""));
}

const shown = async (page: Page) => letters((await answer(page).locator(".answer").allTextContents()).join(""));

test("a second tab follows the same run live, and both have all of it once", async ({ page, context }, info) => {
  await page.goto("/");
  const runId = await askLong(page, 200);
  const other = await context.newPage();
  await other.goto(`/#run=${runId}`);
  await expect(text(other)).toContainText(words);
  await expect(other.getByRole("textbox", { name: "Message" })).toHaveCount(0);
  await expect(other.getByRole("button", { name: "Stop" })).toBeVisible();
  await info.attach("second tab", { body: await other.screenshot({ path: info.outputPath("second-tab.png") }) });
  await expect(end(page)).toContainText(/loop v2/, { timeout: 40_000 });
  await expect(end(other)).toContainText(/loop v2/);
  const whole = await said(page, runId);
  expect(whole.length).toBeGreaterThan(500);
  expect([await shown(page), await shown(other)]).toEqual([whole, whole]);
  await expect(other.getByRole("button", { name: "Retry" })).toHaveCount(0);

  await other.reload();
  await expect(end(other)).toContainText(/loop v2/);
  expect(await shown(other)).toBe(whole);
  await other.getByRole("button", { name: "New chat" }).click();
  await expect(other.getByRole("textbox", { name: "Message" })).toBeFocused();
});

test("a stop in one tab ends the answer in the other", async ({ page, context }) => {
  await page.goto("/");
  const runId = await askLong(page, 3000);
  const other = await context.newPage();
  await other.goto(`/#run=${runId}`);
  await expect(text(other)).toContainText(words);
  await other.getByRole("button", { name: "Stop" }).click();
  await expect(end(page)).toContainText("Stopped");
  await expect(end(other)).toContainText("Stopped");
  await expect(page.getByRole("button", { name: "Send" })).toBeVisible();
  await expect(other.getByRole("button", { name: "Stop" })).toHaveCount(0);
  const whole = await said(page, runId);
  expect([await shown(page), await shown(other)]).toEqual([whole, whole]);
});

test("a run that nobody knows is told so", async ({ page }) => {
  await page.goto("/#run=00000000000000000000000000000000");
  await expect(page.getByRole("alert")).toBeVisible();
  await expect(page.getByRole("button", { name: "Stop" })).toHaveCount(0);
});

test("the browser's own EventSource has every frame once over a line that breaks", async ({ page, baseURL }) => {
  const wire = await openWire(baseURL ?? "");
  await page.goto(wire.url);
  const runId = await askLong(page, 100);
  const follows = page.evaluate(
    (path) =>
      new Promise<{ id: string; data: string }[]>((resolve) => {
        const heard: { id: string; data: string }[] = [];
        const source = new EventSource(path);
        source.onmessage = ({ lastEventId, data }) => heard.push({ id: lastEventId, data });
        // It reconnects by itself, and ends at the 204 that says that all was seen.
        source.onerror = () => source.readyState === EventSource.CLOSED && resolve(heard);
        Object.assign(window, { heard });
      }),
    `/api/runs/${runId}/events`,
  );
  const count = () => page.evaluate(() => (window as unknown as { heard: object[] }).heard.length);
  for (const least of [3, 20]) {
    await expect.poll(count, { timeout: 20_000 }).toBeGreaterThan(least);
    const again = page.waitForRequest((request) => request.resourceType() === "eventsource");
    wire.cut();
    await again;
  }
  const heard = await follows;
  expect(heard).toEqual(await journal(page, runId));
  expect(JSON.parse(heard.at(-1)?.data ?? "")).toMatchObject({ type: "done", status: "complete" });
  wire.close();
});

test("a question whose answer got lost on its way is asked once", async ({ page }) => {
  await page.goto("/");
  const keys: (string | undefined)[] = [];
  const ids: (string | undefined)[] = [];
  await page.route("**/api/chat/stream", async (route) => {
    keys.push(route.request().headers()["idempotency-key"]);
    if (keys.length > 2) return route.continue();
    // The first never arrives. The second does: the server answers it, and the answer is lost.
    if (keys.length === 2) {
      const { headers, method, data } = {
        headers: route.request().headers(),
        method: "POST",
        data: route.request().postData() ?? "",
      };
      ids.push((await page.request.fetch(route.request().url(), { headers, method, data })).headers()["x-run-id"]);
    }
    await route.abort("connectionreset");
  });
  const answered = page.waitForResponse("**/api/chat/stream");
  await page.getByRole("textbox", { name: "Message" }).fill("What time is it in Tokyo?");
  await page.keyboard.press("Enter");
  ids.push((await answered).headers()["x-run-id"]);
  await expect(end(page)).toContainText("tokens");
  expect(keys.length).toBe(3);
  expect(new Set(keys).size).toBe(1);
  expect(ids[0]).toBeTruthy();
  expect(new Set(ids).size).toBe(1);
  await expect(page.locator(".question")).toHaveCount(1);
  await expect(page.getByRole("alert")).toHaveCount(0);
});

// A server crash during an answer: the page shows what was saved and reports what was lost.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  answer,
  askRun,
  ended,
  expect,
  expectAccessible,
  letters,
  type Page,
  response,
  shown,
  test,
  useModel,
  waitForText,
} from "./support/page.ts";
import { type OwnServer, ownServer } from "./support/server.ts";
import { openWire } from "./support/wire.ts";

/** Each test starts a server twice. */
test.describe.configure({ timeout: 120_000 });

let server: OwnServer;

test.beforeEach(async ({ faults }) => {
  faults.allow(/console: Failed to load resource: net::ERR_/);
  server = await ownServer({ SIGNALBOX_SIMULATOR_PACE: "0.02" });
  await server.start();
});
test.afterEach(() => server.kill());

const box = (page: Page) => response(page).locator("[data-part=error]");

async function askLong(page: Page, url = server.url): Promise<string> {
  await page.clock.install();
  await page.goto(url);
  await useModel(page, "openai/sim-long-3000");
  const runId = await askRun(page, "A long answer, please.");
  await waitForText(page);
  return runId;
}

/** The letters of the answer that the server has so far. */
async function saved(runId: string): Promise<string> {
  const events = await (await fetch(`${server.url}/api/runs/${runId}/events?follow=false`)).text();
  const data = [...events.matchAll(/^data: (.*)$/gm)].map(([, event]) => JSON.parse(event ?? ""));
  return letters(data.map((event) => (event.type === "content" ? event.content : "")).join(""));
}

/** Block writes to the disk. The result unblocks them. */
function holdDisk(): () => void {
  const database = new DatabaseSync(join(server.data, "signalbox.db"));
  database.exec("PRAGMA busy_timeout = 10000; BEGIN IMMEDIATE");
  return () => database.close();
}

test("unsaved text is counted, marked, and gone after a reload", async ({ page }) => {
  const runId = await askLong(page);
  // Each event is flushed within 100 ms, so the first words are saved.
  await expect.poll(async () => (await shown(page)).length).toBeGreaterThan(500);
  const release = holdDisk();
  const before = (await shown(page)).length;
  await expect.poll(async () => (await shown(page)).length).toBeGreaterThan(before + 100);
  const seen = await shown(page);
  // The page waits for the server to start again.
  await page.clock.pauseAt(Date.now() + 60_000);
  await server.kill();
  release();
  await server.start();
  await page.clock.resume();

  await ended(page, "interrupted");
  await expect(box(page)).toHaveAttribute("data-code", "SERVER_CRASH");
  await expect(box(page)).toContainText("The server stopped unexpectedly during this answer.");
  const whole = await saved(runId);
  expect(await shown(page)).toBe(whole);
  const lost = box(page).locator("[data-part=unsaved] p");
  const text = (await lost.textContent()) ?? "";
  // More text may have arrived between the last check and the kill.
  expect(`${whole}${letters(text)}`.startsWith(seen)).toBe(true);
  expect(letters(text).length).toBeGreaterThan(50);
  const count = text.length.toLocaleString("en-US");
  await expect(box(page)).toContainText(`The last ${count} characters you saw were not saved.`);
  await expect(box(page).getByRole("alert")).not.toContainText("Not saved.");
  await expectAccessible(page);

  await page.reload();
  await ended(page, "interrupted");
  expect(await shown(page)).toBe(whole);
  await expect(box(page)).toContainText("The answer so far is saved.");
  await expect(box(page).locator("[data-part=unsaved]")).toHaveCount(0);
});

test("a page that had shown only saved text says that it is saved", async ({ page }) => {
  const wire = await openWire(server.url);
  const runId = await askLong(page, wire.url);
  await wire.holdBefore('"type":"content"');
  const least = letters((await answer(page).last().textContent()) ?? "").length + 100;
  await expect.poll(async () => (await saved(runId)).length, { timeout: 30_000 }).toBeGreaterThan(least);
  await server.kill();
  await server.start();
  wire.cut();
  await ended(page, "interrupted");
  await expect(box(page)).toContainText("The answer so far is saved.");
  await expect(box(page).locator("[data-part=unsaved]")).toHaveCount(0);
  expect(await shown(page)).toBe(await saved(runId));
  wire.close();
});

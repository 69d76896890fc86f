// The run inspector, for running and finished runs.
import { readFile } from "node:fs/promises";
import {
  ask,
  askRun,
  end,
  ended,
  expect,
  journal,
  message,
  type Page,
  test,
  useModel,
  waitForText,
} from "./support/page.ts";

const SEARCH = "What is a run? Search for it.";
const MANY =
  "Compare TOOL_LOOP_V2 and the legacy loop, then explain what a journal is, then work out 365 * 24 * 60 and tell me the time in Tokyo.";

const inspector = (page: Page) => page.locator("[data-part=inspector]");
const rows = (page: Page) => inspector(page).locator("[data-part=row]");
const facts = (page: Page) => inspector(page).locator("[data-part=facts]").first();
const tab = (page: Page, name: string) => inspector(page).getByRole("tab", { name });
const inspect = (page: Page) => end(page).getByRole("button", { name: "Run details" });

test.use({ permissions: ["clipboard-read", "clipboard-write"], viewport: { width: 1280, height: 800 } });
test.beforeEach(({ page }) => page.goto("/"));

test("a running run is shown live: rows appear, a bar grows, and all stops at the end", async ({ page }) => {
  await useModel(page, "openai/sim-searches-8");
  await ask(page, SEARCH);
  await expect(page.locator("[data-part=running]")).toBeVisible();
  await page.keyboard.press("Control+i");
  await expect(inspector(page).locator("[data-part=standing]")).toContainText("Running");
  await expect(rows(page).filter({ hasText: "running:" }).first()).toBeVisible();
  const before = await rows(page).count();
  await expect(inspector(page).locator("[data-part=standing]")).toContainText("Complete", { timeout: 30_000 });
  expect(await rows(page).count()).toBeGreaterThan(before);
  await expect(rows(page).filter({ hasText: "running:" })).toHaveCount(0);
  await expect(rows(page).filter({ hasText: "Web search" })).toHaveCount(8);
});

test("steps and tools, including hidden ones, are rows, with the record's figures", async ({ page }) => {
  const runId = await askRun(page, MANY);
  await ended(page);
  await expect(page.locator("[data-part=chip]").filter({ hasText: "Clock" })).toHaveCount(0);
  await inspect(page).click();
  await expect(
    rows(page)
      .filter({ hasText: /Step \d/ })
      .first(),
  ).toBeVisible();
  await expect(rows(page).filter({ hasText: "Clock" })).toContainText("hidden");
  const record = await (await page.request.get(`/api/runs/${runId}`)).json();
  expect(
    await rows(page)
      .filter({ hasText: /Step \d/ })
      .count(),
  ).toBe(record.attempts.length);
  await expect(facts(page)).toContainText("openai/sim");
  await expect(facts(page)).toContainText("Provider");
  await expect(facts(page)).toContainText("OpenAI");
  for (const pattern of [
    /First token\d/,
    /Speed\d+ tokens\/s/,
    /Input tokens[\d,]+/,
    /Output tokens[\d,]+/,
    /Cached input tokens\d/,
  ])
    await expect(facts(page)).toHaveText(pattern);
  await expect(facts(page)).toHaveText(/Costwould cost \$0\.\d+/);
  await expect(facts(page)).toHaveText(/Loopv2, .+/);
  await rows(page).filter({ hasText: "Clock" }).click();
  const detail = inspector(page).locator("[data-part=row-detail]");
  await expect(detail.getByRole("region", { name: "Input", exact: true })).toContainText("Tokyo");
  await expect(detail.getByRole("region", { name: "Result", exact: true })).toContainText("Tokyo");
  await detail.getByRole("button", { name: /raw events?$/ }).click();
  await expect(detail.locator("[data-part=raw]")).toContainText("tool_result");
});

test("a retried step has two rows", async ({ page }) => {
  await useModel(page, "openai/sim-quirk-e01-once");
  await ask(page, SEARCH);
  await ended(page);
  await inspect(page).click();
  await expect(rows(page).filter({ hasText: "retry" }).first()).toBeVisible();
  const steps = await rows(page)
    .filter({ hasText: /Step \d/ })
    .count();
  await expect(facts(page)).toHaveText(new RegExp(`Steps\\d, ${steps} requests`));
});

test("the request is shown without its texts", async ({ page }) => {
  await ask(page, "A secret question of mine about journals. Search for it.");
  await ended(page);
  await inspect(page).click();
  await tab(page, "Request").click();
  const request = inspector(page).getByRole("region", { name: "Request to Signalbox" });
  await expect(request).toContainText('"role": "user"');
  await expect(request).toContainText('"model": "openai/sim"');
  await expect(inspector(page).getByRole("tabpanel")).not.toContainText("secret question");
});

test("every event is listed, found by text and by type, copied and exported", async ({ page }) => {
  const runId = await askRun(page, SEARCH);
  await ended(page);
  const events = await journal(page, runId);
  await inspect(page).click();
  await tab(page, "Events").click();
  const list = inspector(page).locator("[data-part=events]");
  await expect(list.getByRole("status")).toHaveText(`${events.length} events`);
  const contents = events.filter(({ type }) => type === "content").length;
  await list.getByRole("combobox", { name: "Event type" }).selectOption("content");
  await expect(list.getByRole("status")).toHaveText(`${contents} of ${events.length} events`);
  await list.getByRole("checkbox", { name: "Group deltas" }).uncheck();
  await expect(list.locator("[data-part=event]").first()).not.toContainText("×");
  await list.getByRole("combobox", { name: "Event type" }).selectOption("");
  await list.getByRole("searchbox", { name: "Filter events" }).fill('"query":');
  await expect(list.getByRole("status")).toHaveText(/^\d of \d+ events$/);
  await list.getByRole("searchbox", { name: "Filter events" }).fill('"type":"done"');
  await expect(list.locator("[data-part=event]")).toHaveCount(1);
  await list.getByRole("button", { name: "Copy these events" }).click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(JSON.parse(copied)).toEqual(events.at(-1));
  await list.locator("[data-part=event] button").first().click();
  await expect(list.getByRole("region", { name: /^Event \d/ })).toContainText('"status": "complete"');

  const downloading = page.waitForEvent("download");
  await inspector(page).getByRole("button", { name: "Export" }).click();
  const download = await downloading;
  expect(download.suggestedFilename()).toBe(`signalbox-run-${runId}.json`);
  const exported = JSON.parse(await readFile(await download.path(), "utf8"));
  expect(exported).toMatchObject({ schema: 1, run: { id: runId, model: "openai/sim", status: "complete" } });
  expect(exported.events.map(({ event }: { event: unknown }) => event)).toEqual(events);
  await inspector(page).getByRole("button", { name: "Copy as JSON" }).click();
  await expect(inspector(page).getByRole("button", { name: "Copied" }).first()).toBeVisible();
  expect(JSON.parse(await page.evaluate(() => navigator.clipboard.readText())).run.id).toBe(runId);
});

test("the settings of a run can be applied to the next message", async ({ page }) => {
  await useModel(page, "anthropic/sim");
  await ask(page, SEARCH);
  await ended(page);
  await useModel(page, "openai/gpt-4o");
  await inspect(page).click();
  await inspector(page).getByRole("button", { name: "Use these settings" }).click();
  await expect(page.locator("[data-part=model]")).toHaveAttribute("title", "anthropic/sim");
  const posted = page.waitForRequest("**/api/chat/stream");
  await ask(page, "And what is a journal?");
  expect((await posted).postDataJSON().model).toBe("anthropic/sim");
  await ended(page);
});

test("it is beside the chat or a sheet; Escape closes it and returns the focus", async ({ page }) => {
  await ask(page, SEARCH);
  await ended(page);
  await inspect(page).click();
  await expect(page.getByRole("complementary", { name: "Run details" })).toBeFocused();
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await expect(message(page)).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(inspector(page)).toHaveCount(0);
  await expect(inspect(page)).toBeFocused();

  await page.setViewportSize({ width: 1024, height: 800 });
  await page.keyboard.press("Enter");
  const sheet = page.getByRole("dialog", { name: "Run details" });
  await expect(sheet).toBeVisible();
  await expect(page.getByRole("complementary", { name: "Run details" })).toHaveCount(0);
  // The panel stays open when the window becomes wider again.
  await tab(page, "Events").click();
  await page.setViewportSize({ width: 1280, height: 800 });
  await expect(sheet).toHaveCount(0);
  await expect(tab(page, "Events")).toHaveAttribute("aria-selected", "true");
  await page.setViewportSize({ width: 1024, height: 800 });
  await expect(sheet).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(sheet).toHaveCount(0);
});

test("the same run is inspected after a reload, by its address, and in a saved copy", async ({ page }) => {
  const runId = await askRun(page, MANY);
  await ended(page);
  const count = (await journal(page, runId)).length;
  let names: string[] = [];
  const look = async (open: () => Promise<void>) => {
    await open();
    await expect(rows(page).filter({ hasText: "Clock" })).toContainText("hidden");
    await expect(
      rows(page)
        .filter({ hasText: /Step \d/ })
        .first(),
    ).toBeVisible();
    if (names.length > 0) await expect(rows(page)).toHaveText(names);
    names = await rows(page).allTextContents();
    await tab(page, "Events").click();
    await expect(inspector(page).locator("[data-part=events]").getByRole("status")).toHaveText(`${count} events`);
    await page.keyboard.press("Escape");
  };
  await look(() => inspect(page).click());
  await end(page).getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name: "Save", exact: true }).click();
  await expect(page.getByText("Saved. Find it under Saved in the sidebar.")).toBeVisible();
  await page.reload();
  await ended(page);
  await look(() => page.keyboard.press("Control+i"));
  await page.goto(`/#run=${runId}`);
  await look(() => inspect(page).click());
  await page.getByRole("tab", { name: "Saved" }).click();
  await page.locator("[data-part=line] a").first().click();
  await expect(page.getByText(/Saved on /)).toBeVisible();
  await look(() => inspect(page).click());
});

test("a run of an OpenAI client shows its protocol, and the call that it handed over", async ({ page }) => {
  const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  const response = await page.request.post("/v1/chat/completions", {
    data: {
      model: "openai/sim",
      stream: true,
      messages: [{ role: "user", content: "Call get_weather for Bonn." }],
      tools: [{ type: "function", function: { name: "get_weather", parameters } }],
    },
  });
  expect(response.ok(), await response.text()).toBe(true);
  const runId = response.headers()["x-run-id"] ?? "";
  await page.goto(`/#run=${runId}`);
  await ended(page);
  await expect(page.locator("[data-part=stop]").last()).toContainText("Handed to the client Get weather");
  await inspect(page).click();
  await expect(facts(page)).toContainText("ProtocolChat completions");
  await rows(page).filter({ hasText: "Get weather" }).click();
  await expect(rows(page).filter({ hasText: "Get weather" })).toContainText("handed to the client");
  await expect(inspector(page).locator("[data-part=row-detail]")).toContainText("The result is not part of this run.");
  await tab(page, "Events").click();
  const count = (await journal(page, runId)).length;
  await expect(inspector(page).locator("[data-part=events]").getByRole("status")).toHaveText(`${count} events`);
  await page.goto("/operator#runs");
  await expect(page.locator(`[data-part=run]:has(a[href="/#run=${runId}"])`)).toContainText("Chat completions");
});

test("a failed run shows the reason, and a stopped one its status", async ({ page }) => {
  await useModel(page, "openai/sim-error-400");
  await ask(page, SEARCH);
  await ended(page, "error");
  await inspect(page).click();
  await expect(inspector(page).locator("[data-part=trouble]")).toContainText("UPSTREAM_");
  await expect(rows(page).filter({ hasText: "failed:" }).first()).toBeVisible();
  await page.keyboard.press("Escape");
  await useModel(page, "openai/sim-long-3000");
  await ask(page, SEARCH);
  await waitForText(page);
  await message(page).press("Escape");
  await ended(page, "cancelled");
  await inspect(page).click();
  await expect(inspector(page).locator("[data-part=standing]")).toContainText("Stopped");
});

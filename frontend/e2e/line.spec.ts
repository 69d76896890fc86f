// The line during a run: reasoning blocks, and which panel is open when.
import {
  answer,
  ask,
  choose,
  ended,
  expect,
  type Page,
  response,
  stops,
  test,
  useModel,
  waitForText,
} from "./support/page.ts";
import { seenLine, watchLine } from "./support/watch.ts";
import { openWire, type Wire } from "./support/wire.ts";

const SEARCH = "What is a run? Search for it.";

let wire: Wire;

test.beforeEach(async ({ page, baseURL }) => {
  wire = await openWire(baseURL ?? "");
  await page.goto(wire.url);
});

test.afterEach(() => wire.close());

const head = (page: Page, kind: string, index = 0) => stops(page, kind).nth(index).getByRole("button").first();

test("requested reasoning has a row at once, its blocks in order, and no empty row at the end", async ({ page }) => {
  await choose(page, "Reasoning effort", "High");
  await watchLine(page);
  const first = wire.holdBefore('"type":"reasoning"');
  await ask(page, SEARCH);
  await first;
  await expect(stops(page, "pending")).toHaveText(/^Thinking/);
  await expect(stops(page, "pending")).toHaveAttribute("data-lamp", "running");
  await expect(stops(page, "reasoning")).toHaveCount(0);

  await wire.release('"type":"tool_calls"');
  await expect(head(page, "reasoning")).toHaveAttribute("aria-expanded", "true");
  await expect(head(page, "reasoning")).toContainText("Thinking");
  await expect(stops(page, "pending")).toHaveCount(0);

  // After a result, the next reasoning block appears before its first text.
  await wire.release('"type":"reasoning"');
  await expect(stops(page, "search")).toHaveCount(1);
  await expect(stops(page, "pending")).toHaveText(/^Thinking/);
  await wire.release();
  await ended(page);
  await expect(stops(page, "pending")).toHaveCount(0);
  await expect(stops(page, "reasoning")).toHaveCount(2);
  const last = (await seenLine(page)).at(-1) ?? [];
  expect(last.map(({ kind }) => kind)).toEqual(["reasoning", "search", "reasoning", "answer"]);
  expect(last.filter(({ kind }) => kind === "reasoning").map(({ title }) => title)).toEqual([
    expect.stringMatching(/^.*Thought for (a moment|\d+ s)$/),
    expect.stringMatching(/^.*Thought for (a moment|\d+ s)$/),
  ]);
  // Each block has its complete text.
  await head(page, "reasoning", 1).click();
  await expect(stops(page, "reasoning").nth(1).locator("[data-part=reasoning]")).toContainText(/\w+ \w+ \w+/);
});

test("a row for reasoning that never arrived disappears at the end", async ({ page }) => {
  await useModel(page, "openai/sim-refusal");
  await choose(page, "Reasoning effort", "High");
  await watchLine(page);
  await ask(page, "Hello there");
  await ended(page, "content_filter");
  const seen = await seenLine(page);
  expect(seen.flat().some(({ kind, title }) => kind === "pending" && title.includes("Thinking"))).toBe(true);
  await expect(response(page)).not.toContainText("Thinking");
  expect((seen.at(-1) ?? []).map(({ kind }) => kind)).toEqual(["answer"]);
});

test("reasoning that the provider hides is marked as hidden", async ({ page }) => {
  await useModel(page, "openai/sim-quirk-b12");
  await ask(page, SEARCH);
  await ended(page);
  await expect(stops(page, "reasoning").first()).toContainText("not shown by the provider");
  await expect(stops(page, "reasoning").first().getByRole("button")).toHaveCount(0);
});

test("the open panel changes from reasoning to search, until the answer begins", async ({ page }) => {
  const first = wire.holdBefore('"type":"tool_calls"');
  await ask(page, SEARCH);
  await first;
  await expect(head(page, "reasoning")).toHaveAttribute("aria-expanded", "true");

  await wire.release('"type":"tool_result"');
  await expect(head(page, "search")).toContainText("Searching");
  await expect(head(page, "search")).toHaveAttribute("aria-expanded", "false");
  // After a search call, no reasoning arrives for a while.
  await expect(head(page, "reasoning")).toHaveAttribute("aria-expanded", "false");

  await wire.release('"type":"content"');
  await expect(head(page, "search")).toHaveAttribute("aria-expanded", "true");
  await expect(response(page).locator("[data-part=source]").first()).toBeVisible();

  await wire.release();
  await waitForText(page);
  await expect(head(page, "search")).toHaveAttribute("aria-expanded", "false");
  await ended(page);
  await expect(response(page).locator("[aria-expanded=true]")).toHaveCount(0);
});

test("panels open and close no more often than necessary", async ({ page }) => {
  await watchLine(page);
  await ask(page, "Explain in detail how a tool call becomes events.");
  await ended(page);
  const seen = (await seenLine(page)).map((line) => line.filter(({ kind }) => kind !== "steps"));
  for (const [at, kind] of ["reasoning", "search", "reasoning", "search", "reasoning"].entries()) {
    const states = seen.flatMap((line) => (line[at]?.kind === kind ? [line[at].open === true] : []));
    const moves = states.filter((open, index) => index > 0 && open !== states[index - 1]).length;
    expect(moves, `${kind} ${at}`).toBeLessThanOrEqual(2);
  }
});

test("panels stay open or closed if the setting says so", async ({ page }) => {
  await choose(page, "Show reasoning", "Open");
  await ask(page, SEARCH);
  await ended(page);
  for (const at of [0, 1]) await expect(head(page, "reasoning", at)).toHaveAttribute("aria-expanded", "true");

  await choose(page, "Show reasoning", "Closed");
  await watchLine(page);
  await ask(page, SEARCH);
  await ended(page);
  const reasoning = (await seenLine(page)).flat().filter(({ kind }) => kind === "reasoning");
  expect(reasoning.length).toBeGreaterThan(3);
  expect(reasoning.filter(({ open }) => open)).toEqual([]);
});

test("a panel that the user has opened or closed stays that way", async ({ page }) => {
  const first = wire.holdBefore('"type":"tool_calls"');
  await ask(page, SEARCH);
  await first;
  await head(page, "reasoning").click();
  await expect(head(page, "reasoning")).toHaveAttribute("aria-expanded", "false");
  await wire.release('"type":"content"');
  await expect(head(page, "search")).toHaveAttribute("aria-expanded", "true");
  await head(page, "reasoning").click();
  await head(page, "search").click();
  await watchLine(page);
  await wire.release();
  await ended(page);
  for (const line of await seenLine(page)) {
    expect(line[0]).toMatchObject({ kind: "reasoning", open: true });
    expect(line[1]).toMatchObject({ kind: "search", open: false });
  }
  await expect(answer(page).last()).toBeVisible();
});

test("rows can be clicked while the page follows the answer", async ({ page }) => {
  await useModel(page, "openai/sim-long-3000");
  await ask(page, "A long answer, please.");
  await waitForText(page);
  await expect.poll(() => page.getByRole("main").evaluate((box) => box.scrollTop)).toBeGreaterThan(50);
  await response(page)
    .locator("[data-part=running]")
    .getByRole("button", { name: "Run details" })
    .click({ timeout: 3000 });
  await expect(page.locator("[data-part=inspector]").first()).toBeVisible();
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await ended(page, "cancelled");
});

test("reasoning with only hidden tools in between is one row", async ({ page }) => {
  await watchLine(page);
  await ask(page, "What is 17 * 23?");
  await ended(page);
  await expect(stops(page, "reasoning")).toHaveCount(1);
  const seen = await seenLine(page);
  for (const line of seen) expect(line.filter(({ kind }) => kind !== "answer").length).toBeLessThanOrEqual(1);
  // Both texts are there, as separate paragraphs.
  await head(page, "reasoning").click();
  await expect(stops(page, "reasoning").locator("[data-part=reasoning] > .prose")).toHaveCount(2);
});

test("the steps of a long run fold into one row when the answer begins, which opens by keyboard", async ({ page }) => {
  await useModel(page, "openai/sim-steps-3");
  const words = wire.holdBefore('"type":"content"');
  await ask(page, SEARCH);
  await words;
  await expect(stops(page, "search")).toHaveCount(3);
  await expect(stops(page, "steps")).toHaveCount(0);

  await wire.release();
  await waitForText(page);
  const row = head(page, "steps");
  await expect(row).toHaveText(/^3 searches · \d+ sources · [\d.]+ m?s$/);
  await expect(row).toHaveAttribute("aria-expanded", "false");
  await expect(stops(page, "search").first()).not.toBeInViewport();
  await ended(page);
  // Citations still link to their pages.
  await expect(response(page).locator("[data-part=cite]").first()).toHaveAttribute("href", /./);

  await row.focus();
  await page.keyboard.press("Enter");
  await expect(row).toHaveAttribute("aria-expanded", "true");
  await expect(head(page, "search")).toBeInViewport();
  // The rows are indented.
  const startOf = async (one: typeof row) => (await one.boundingBox())?.x ?? 0;
  expect(await startOf(head(page, "search"))).toBeGreaterThan((await startOf(row)) + 16);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect(head(page, "reasoning")).toHaveAttribute("aria-expanded", "true");

  await page.reload();
  await expect(row).toHaveAttribute("aria-expanded", "false");
  await expect(stops(page, "search")).toHaveCount(0);
});

test("steps that contain the focus do not fold", async ({ page }) => {
  await useModel(page, "openai/sim-steps-3");
  const words = wire.holdBefore('"type":"content"');
  await ask(page, SEARCH);
  await words;
  await head(page, "reasoning").focus();
  await wire.release();
  await ended(page);
  await expect(head(page, "reasoning")).toBeFocused();
  await expect(head(page, "steps")).toHaveAttribute("aria-expanded", "true");
});

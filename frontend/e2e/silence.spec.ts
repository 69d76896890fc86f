// A model that sends nothing for 12 seconds: the answer says so and offers to stop it or to ask another model.
import {
  answer,
  answerWith,
  ask,
  end,
  ended,
  expect,
  expectAccessible,
  message,
  type Page,
  response,
  stops,
  test,
  useModel,
} from "./support/page.ts";
import { openWire } from "./support/wire.ts";

const silence = (page: Page) => stops(page, "silence");

/** Advance the page's clock, not the server's. */
const pass = (page: Page, seconds: number) => page.clock.fastForward(seconds * 1000);

/** The last words of `openai/sim-stall` before it falls silent. */
const LAST_WORDS = /The text so$/;

async function fallSilent(page: Page): Promise<void> {
  await page.clock.install();
  await page.goto("/");
  await useModel(page, "openai/sim-stall");
  await ask(page, "What is a run?");
  await expect(answer(page).last()).toContainText(LAST_WORDS);
}

test("is reported after 12 seconds, and can be stopped there", async ({ page }) => {
  await fallSilent(page);
  await pass(page, 9);
  await expect(silence(page)).toHaveCount(0);
  await pass(page, 4);
  await expect(silence(page)).toContainText(/No output from the model · 1\d s/);
  await expect(page.locator("[role=status]", { hasText: "No output from the model." })).toHaveCount(1);
  await expectAccessible(page);
  await silence(page).getByRole("button", { name: "Stop" }).click();
  await expect(message(page)).toBeFocused();
  await ended(page, "cancelled");
  await expect(silence(page)).toHaveCount(0);
  await expect(answer(page).last()).toContainText(/\w+ \w+ \w+/);
});

test("another model answers the same message, and only then the silent one is stopped", async ({ page }) => {
  await fallSilent(page);
  await pass(page, 13);
  const another = silence(page).getByRole("button", { name: "Choose another model" });
  const dialog = page.getByRole("dialog", { name: "Regenerate with another model" });
  await another.click();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await expect(dialog).toHaveCount(0);
  await expect(another).toBeFocused();
  await expect(end(page)).toHaveCount(0);
  await another.click();
  await expect(dialog.getByRole("button", { name: /^Model for the new answer: / })).not.toContainText("stall");
  await answerWith(page, "openai/sim");
  await expect(end(page)).toHaveCount(0);
  await dialog.getByRole("button", { name: "Regenerate" }).click();
  await expect(message(page)).toBeFocused();
  await ended(page);
  await expect(page.locator("[data-part=question]")).toHaveCount(1);
  await expect(page.getByRole("group", { name: "Versions of the answer" })).toContainText(/2\D+2/);
});

test("ends with the next words of the model", async ({ page, baseURL }) => {
  const wire = await openWire(baseURL ?? "");
  await page.clock.install();
  await page.goto(wire.url);
  await useModel(page, "openai/sim");
  const held = wire.holdBefore('"type":"content"');
  await ask(page, "What is a run?");
  await held;
  await expect(response(page)).toBeVisible();
  await pass(page, 13);
  await expect(silence(page)).toHaveCount(1);
  await wire.release();
  await expect(silence(page)).toHaveCount(0);
  await ended(page);
  wire.close();
});

test("is not reported while a tool is running", async ({ page, baseURL }) => {
  const wire = await openWire(baseURL ?? "");
  await page.clock.install();
  await page.goto(wire.url);
  await useModel(page, "openai/sim");
  const held = wire.holdBefore('"type":"tool_result"');
  await ask(page, "What is a run? Search for it.");
  await held;
  await expect(stops(page, "search")).toHaveAttribute("data-lamp", "running");
  await pass(page, 13);
  await pass(page, 13);
  await expect(stops(page, "search")).toHaveAttribute("data-lamp", "running");
  await expect(silence(page)).toHaveCount(0);
  await wire.release();
  await ended(page);
  wire.close();
});

test("restarts after a reload", async ({ page }) => {
  await fallSilent(page);
  await pass(page, 13);
  await expect(silence(page)).toHaveCount(1);
  await page.reload();
  await expect(answer(page).last()).toContainText(LAST_WORDS);
  await pass(page, 9);
  await expect(silence(page)).toHaveCount(0);
  await pass(page, 4);
  await expect(silence(page)).toHaveCount(1);
  await silence(page).getByRole("button", { name: "Stop" }).click();
  await ended(page, "cancelled");
});

test("is reported only in the column of the silent model", async ({ page }) => {
  await page.clock.install();
  await page.goto("/");
  await page.evaluate(() => {
    const kept = JSON.parse(localStorage.getItem("signalbox.settings") ?? "{}");
    const compared = ["anthropic/sim", "openai/sim-stall"];
    localStorage.setItem("signalbox.settings", JSON.stringify({ version: 1, ...kept, compared }));
  });
  await page.reload();
  await ask(page, "What is a run?");
  const column = (model: string) => page.locator(`[data-part=column]:has([data-part=response])`, { hasText: model });
  await expect(column("anthropic/sim").locator("[data-part=end]")).toHaveAttribute("data-status", "complete");
  await expect(column("openai/sim-stall").locator("[data-part=answer]").last()).toContainText(LAST_WORDS);
  await pass(page, 13);
  await expect(page.locator("[data-kind=silence]")).toHaveCount(1);
  const silent = column("openai/sim-stall").locator("[data-kind=silence]");
  await silent.getByRole("button", { name: "Stop" }).click();
  await expect(column("openai/sim-stall").locator("[data-part=end]")).toHaveAttribute("data-status", "cancelled");
});

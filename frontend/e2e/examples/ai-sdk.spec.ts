// The page built with useChat in a real browser: tools of both sides, reasoning, sources, edits, stopping, resuming.
import { expect, type Page, test } from "../support/page.ts";
import { ask, expectAccessible, LONG, statusOf, storedAnswer } from "./support.ts";

const answers = (page: Page) => page.getByRole("article", { name: "Assistant" });

async function ended(page: Page): Promise<void> {
  await expect(page.getByRole("button", { name: "Regenerate" })).toBeVisible();
}

test("an answer has reasoning, tools and sources", async ({ page }) => {
  await page.goto("/");
  await expectAccessible(page);
  await ask(page, "What is the tool loop?");
  await ended(page);
  await expect(answers(page).getByText("search_web · output-available")).toBeVisible();
  await expect(answers(page).getByText("Reasoning").first()).toBeVisible();
  expect(await answers(page).getByRole("list", { name: "Sources" }).getByRole("link").count()).toBeGreaterThan(0);
  await expectAccessible(page);
});

test("the page executes its own tool, and the answer goes on", async ({ page }) => {
  await page.goto("/");
  await ask(page, 'Call set_theme {"theme": "dark"}');
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await expect(answers(page)).toContainText("set_theme");
  await ended(page);
  await expect(answers(page).locator(".text").last()).toContainText("done");
});

test("an edited question gets another answer", async ({ page }) => {
  await page.goto("/");
  await ask(page, "What is 17 * 23?");
  await expect(answers(page)).toContainText("391");
  await ended(page);
  await page.getByRole("button", { name: "Edit" }).click();
  await ask(page, "What is 3 * 24.90?");
  await expect(answers(page)).toContainText("74.7");
  await ended(page);
  await expect(answers(page)).toHaveCount(1);
  await page.getByRole("button", { name: "Regenerate" }).click();
  await expect(page.getByRole("button", { name: "Stop" })).toBeVisible();
  await ended(page);
  await expect(answers(page)).toContainText("74.7");
});

test("Stop stops the run within a second", async ({ page }) => {
  await page.goto(`/${LONG}`);
  const runId = await ask(page, "Tell me everything about mugs.");
  await expect(answers(page)).toContainText(/\w+ \w+ \w+ \w+/);
  await page.getByRole("button", { name: "Stop" }).click();
  expect(await statusOf(page, runId, 1)).toBe("cancelled");
  await ended(page);
  await expect(answers(page)).toContainText("cancelled");
});

test("a reload in mid-answer neither loses nor repeats text", async ({ page }) => {
  await page.goto(`/${LONG}`);
  const runId = await ask(page, "Tell me everything about mugs.");
  await expect(answers(page)).toContainText(/\w+ \w+ \w+ \w+/);
  await page.reload();
  await expect(page.getByRole("button", { name: "Stop" })).toBeVisible();
  await ended(page);
  expect(await statusOf(page, runId, 1)).toBe("complete");
  const shown = (await answers(page).locator(".text").allTextContents()).join("");
  expect(shown.trim()).toBe(await storedAnswer(page));
});

// The shopping assistant in a real browser: tables, branches, stopping, reloading, failures.
import { expect, type Page, REFUSED, test } from "../support/page.ts";
import { ask, expectAccessible, input, LONG, statusOf, storedAnswer } from "./support.ts";

const answers = (page: Page) => page.getByRole("article", { name: "Assistant" });
const questions = (page: Page) => page.getByRole("article", { name: "You" });
const versions = (message: ReturnType<typeof answers>) => message.getByRole("navigation", { name: "Versions" });

async function ended(page: Page): Promise<void> {
  await expect(page.getByRole("button", { name: "Send" })).toBeVisible();
}

test("a search shows a table that sorts numbers as numbers", async ({ page }) => {
  await page.goto("/");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Show me the 5 cheapest headphones" }).click();
  await expect(questions(page)).toContainText("Show me the 5 cheapest headphones");
  await ended(page);
  const table = page.getByRole("table");
  const prices = async () => (await table.getByRole("cell").filter({ hasText: "$" }).allInnerTexts()).map(amountOf);
  const given = await prices();
  const rising = given.toSorted((a, b) => a - b);
  expect(given.length).toBeGreaterThan(2);
  const heading = table.getByRole("columnheader", { name: "Price" });
  for (const [direction, expected] of [
    ["ascending", rising],
    ["descending", rising.toReversed()],
    ["none", given],
  ] as const) {
    await heading.getByRole("button").click();
    await expect(heading).toHaveAttribute("aria-sort", direction);
    expect(await prices()).toEqual(expected);
  }
  await answers(page).getByText("search_products · done").click();
  await expect(answers(page).locator("pre").first()).toContainText("headphones");
  await expectAccessible(page);
  await answers(page).getByRole("button", { name: "Copy" }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain("headphones");
});

const amountOf = (text: string): number => Number(text.replace(/[^\d.]/g, ""));

test("edits and refreshed answers are branches, which are kept", async ({ page }) => {
  await page.goto("/");
  await ask(page, "What is 17 * 23?");
  await ended(page);
  await expect(answers(page)).toContainText("391");
  await questions(page).getByRole("button", { name: "Edit" }).click();
  await page.getByRole("textbox", { name: "Edited message" }).fill("What is 3 * 24.90?");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(questions(page)).toHaveText(/24\.90/);
  await expect(answers(page)).toContainText("74.7");
  await ended(page);
  await expect(versions(questions(page))).toContainText("2 / 2");

  await versions(questions(page)).getByRole("button", { name: "Previous version" }).click();
  await expect(versions(questions(page))).toContainText("1 / 2");
  await expect(answers(page)).toContainText("391");
  await expect(versions(questions(page)).getByRole("button", { name: "Previous version" })).toBeFocused();
  await page.reload();
  await expect(versions(questions(page))).toContainText("1 / 2");
  await expect(answers(page)).toContainText("391");

  await answers(page).getByRole("button", { name: "Refresh" }).click();
  await expect(versions(answers(page))).toContainText("2 / 2");
  await ended(page);
  await versions(questions(page)).getByRole("button", { name: "Next version" }).click();
  await expect(answers(page)).toContainText("74.7");
  await expect(answers(page)).toHaveCount(1);
});

test("Stop stops the run within a second, and the thread goes on", async ({ page }) => {
  await page.goto(`/${LONG}`);
  const runId = await ask(page, "Tell me everything about mugs.");
  await expect(answers(page)).toContainText(/\w+ \w+ \w+ \w+/);
  await page.getByRole("button", { name: "Stop" }).click();
  expect(await statusOf(page, runId, 1)).toBe("cancelled");
  await expect(answers(page)).toContainText("Stopped.");
  await ask(page, "And cups?");
  await expect(answers(page)).toHaveCount(2);
  await page.getByRole("button", { name: "Stop" }).click();
});

test("a reload in mid-answer neither loses nor repeats text", async ({ page }) => {
  await page.goto(`/${LONG}`);
  const runId = await ask(page, "Tell me everything about mugs.");
  const text = answers(page).locator(".text");
  await expect(text).toContainText(/\w+ \w+ \w+ \w+/);
  await page.reload();
  await expect(page.getByRole("button", { name: "Stop" })).toBeVisible();
  await ended(page);
  expect(await statusOf(page, runId, 1)).toBe("complete");
  const shown = (await text.allTextContents()).join("");
  expect(shown.trim()).toBe(await storedAnswer(page));
});

test("failures have reasons, and a rejected message is not lost", async ({ page, faults }) => {
  faults.allow(REFUSED);
  await page.goto("/");
  await ask(page, 'Call search_products {"query": "mug", "min_price": 50, "max_price": 5}');
  await ended(page);
  await expect(answers(page).getByText("search_products · failed")).toBeVisible();
  await expect(answers(page).locator(".failure")).toContainText("min_price");

  await page.goto("/?model=no/such");
  await input(page).fill("Find a red mug");
  await input(page).press("Enter");
  await expect(page.getByRole("alert")).toContainText("no/such");
  await expect(input(page)).toHaveValue("Find a red mug");

  await page.goto("/?model=openai/sim-error-500");
  await input(page).fill("Find a red mug");
  await input(page).press("Enter");
  await expect(answers(page).getByRole("alert")).toBeVisible();
  await expect(page.getByRole("alert")).toHaveCount(1);
});

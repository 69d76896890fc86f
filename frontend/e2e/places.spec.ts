// Layout measurements of elements that were misplaced before.
import type { Locator } from "@playwright/test";
import { ask, end, ended, expect, message, type Page, test } from "./support/page.ts";

async function placeOf(what: Locator) {
  const found = await what.boundingBox();
  if (!found) throw new Error(`${what} is not shown.`);
  return { ...found, right: found.x + found.width, bottom: found.y + found.height };
}

const PHONE = { width: 375, height: 720 };

/** Compare four models of the list. */
async function compareFour(page: Page): Promise<void> {
  await page.goto("/");
  await page.getByRole("button", { name: "Compare models" }).click();
  const chips = page.locator("[data-part=compared-model]");
  for (let count = 2; count < 4; count++) {
    await expect(chips).toHaveCount(count);
    await page.getByRole("button", { name: "Add a model" }).click();
    await page
      .locator("[role=option]:not([aria-disabled=true])")
      .nth(count + 4)
      .click();
  }
  await expect(chips).toHaveCount(4);
}

test("four models on a phone: one row of names, the page from its top, and every tab visible", async ({ page }) => {
  await page.setViewportSize(PHONE);
  await compareFour(page);
  const chips = await page
    .locator("[data-part=compared-model]")
    .evaluateAll((all) => all.map((chip) => chip.getBoundingClientRect().top));
  expect(new Set(chips).size).toBe(1);
  expect(await page.getByRole("main", { name: "Chat" }).evaluate((box) => box.scrollTop)).toBe(0);
  await expect(page.getByRole("heading", { name: "Signalbox" })).toBeInViewport({ ratio: 1 });
  await expect(page.getByRole("button", { name: "Compare models" })).toHaveAttribute("aria-pressed", "true");

  await ask(page, "Hello.");
  const tabs = page.getByRole("tab");
  await expect(tabs).toHaveCount(4);
  for (const tab of await tabs.all()) {
    await tab.click();
    const { x, right } = await placeOf(tab);
    expect(x).toBeGreaterThanOrEqual(0);
    expect(right).toBeLessThanOrEqual(PHONE.width);
  }
});

test("the head of an almost hidden column is not shown", async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 860 });
  await compareFour(page);
  await ask(page, "Hello.");
  const heads = page.locator("[data-part=columns] h2").locator("xpath=..");
  await expect(heads).toHaveCount(4);
  await expect(heads.first()).toHaveCSS("opacity", "1");
  await expect(heads.last()).toHaveCSS("opacity", "0");
  await page.getByRole("button", { name: "Next column" }).click();
  await expect(heads.last()).toHaveCSS("opacity", "1");
});

test("the edit box has the same distance from the answer as the message", async ({ page }) => {
  await page.goto("/");
  await ask(page, "Hello.");
  await ended(page);
  const first = page.locator("[data-part=stop], [data-part=answer]").first();
  const gap = async (above: Locator) => (await placeOf(first)).y - (await placeOf(above)).bottom;
  const before = await gap(page.locator("[data-part=question] p").first());
  await message(page).press("ArrowUp");
  // A message has 10 pixels of padding below its text.
  expect(Math.abs((await gap(page.locator("[data-part=edit]"))) - (before - 10))).toBeLessThanOrEqual(4);
});

test("the thumbs of the sliders stay within their column", async ({ page }) => {
  await page.goto("/");
  await page.getByRole("button", { name: "Settings" }).click();
  for (const name of ["Top P", "Maximum answer length"]) {
    const part = page.locator("[data-part=parameter]").filter({ hasText: name });
    const thumb = part.getByRole("slider").locator("xpath=..");
    expect((await placeOf(thumb)).right).toBeLessThanOrEqual((await placeOf(part)).right + 0.5);
  }
});

test("the notice is centred over the chat, beside the details of a run too", async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 860 });
  await page.goto("/");
  await ask(page, "Hello.");
  await ended(page);
  await end(page).getByRole("button", { name: "Run details" }).click();
  await expect(page.getByRole("complementary", { name: "Run details" })).toBeVisible();
  await page.keyboard.press("Control+Shift+L");
  const notice = await placeOf(page.locator("[data-part=toast]"));
  const chat = await placeOf(page.getByRole("main", { name: "Chat" }));
  expect(Math.abs((notice.x + notice.right) / 2 - (chat.x + chat.right) / 2)).toBeLessThanOrEqual(8);
});

test("the API reference begins with its title on a phone", async ({ page }) => {
  await page.setViewportSize(PHONE);
  await page.goto("/docs");
  await expect(page.getByRole("heading", { level: 1 })).toBeInViewport({ ratio: 1 });
  const operations = page.getByRole("navigation", { name: "Operations" });
  const link = operations.getByRole("link", { name: "/api/chat/stream" }).first();
  await expect(link).not.toBeVisible();
  await operations.getByText("Operations").click();
  await link.click();
  await expect(page.getByRole("region", { name: "POST /api/chat/stream", exact: true })).toBeInViewport();
});

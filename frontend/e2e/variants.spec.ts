// Variants of one model that build a page: their tabs, thumbnails and keys, and the chat that goes on from one of them.
import { ask, ended, expect, expectAccessible, message, type Page, test } from "./support/page.ts";

const panel = (page: Page) => page.locator("[data-part=files]");
const shown = (page: Page) => panel(page).frameLocator("iframe:not(.invisible)");
const variant = (page: Page, number: number) =>
  page.getByRole("tablist", { name: "Answers side by side" }).getByRole("tab", { name: `Variant ${number}` });
const thumbnail = (page: Page, number: number) => variant(page, number).locator("[data-part=thumbnail]");
const heading = (page: Page, number: number) =>
  thumbnail(page, number).frameLocator("iframe").getByRole("heading", { level: 1 });
const state = (page: Page) => panel(page).locator("[data-part=file-state]");

/** Ask for this many variants of each answer. */
async function setVariants(page: Page, count: number): Promise<void> {
  await page.getByRole("button", { name: "Settings" }).click();
  const choices = page.getByRole("group", { name: "Variants", exact: true });
  await choices.getByText(`${count}`, { exact: true }).click();
  await page.keyboard.press("Escape");
}

test("a page is built in two variants, one is chosen and changed, and an old version is restored", async ({ page }) => {
  await page.setViewportSize({ width: 1400, height: 900 });
  await page.goto("/");
  await setVariants(page, 2);
  await ask(page, "Build a landing page for a bakery called “Crumb”");

  await test.step("both grow at the same time", async () => {
    for (const number of [1, 2]) {
      await expect(variant(page, number)).toContainText(/Creating index\.html · \d/);
      await expect(heading(page, number)).toBeVisible();
    }
    await expect(state(page)).toHaveText("writing…");
    await expect(variant(page, 1)).toContainText("1 file", { timeout: 40_000 });
    await expect(variant(page, 2)).toContainText("1 file");
  });

  await test.step("Alt+2 shows the other one, and its page in the panel", async () => {
    await message(page).focus();
    await page.keyboard.press("Alt+2");
    await expect(variant(page, 2)).toHaveAttribute("aria-selected", "true");
    await expect(message(page)).toBeFocused();
    await expect(message(page)).toHaveValue("");
    const other = await heading(page, 2).evaluate((one) => getComputedStyle(one).fontFamily);
    await expect(shown(page).getByRole("heading", { level: 1 })).toHaveCSS("font-family", other);
    await expectAccessible(page);
  });

  await test.step("the chosen one is changed", async () => {
    await page.getByRole("button", { name: /^Continue with this answer: Variant 2/ }).click();
    await setVariants(page, 1);
    await ask(page, "Make the heading blue");
    await ended(page);
    await expect(state(page)).toHaveText("version 2");
    await expect(page.locator("[data-part=response]").last()).toContainText(/Edited index\.html/);
  });

  await test.step("its first version is restored, also after a reload", async () => {
    await panel(page).getByRole("tab", { name: "Changes" }).click();
    await panel(page).getByRole("combobox", { name: "Version" }).selectOption("1");
    await panel(page).getByRole("button", { name: "Restore this version" }).click();
    await expect(state(page)).toHaveText("version 3");
    await page.reload();
    await expect(variant(page, 2)).toHaveAttribute("aria-selected", "true");
    await expect(page.locator("[data-part=column]")).toHaveAttribute("data-chosen", "true");
    await page.getByRole("button", { name: "Files" }).click();
    await expect(state(page)).toHaveText("version 3");
    await expect(heading(page, 1)).toBeVisible();
  });
});

test("a file is opened from its line, on a phone from the tab of its variant", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto("/");
  await setVariants(page, 2);
  await ask(page, "Build a landing page for a bakery called “Crumb”");
  await expect(variant(page, 2)).toContainText("1 file", { timeout: 40_000 });
  await variant(page, 2).click();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Open index.html" }).click();
  await expect(page.getByRole("dialog", { name: "Files" })).toContainText("version 1");
});

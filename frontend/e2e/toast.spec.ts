// Toasts: announced, never over the message box, and dismissible.
import { ask, useModel as chooseModel, ended, expect, message, type Page, test, waitForText } from "./support/page.ts";

const toast = (page: Page) => page.locator("[data-part=toast]");

/** Copying shows a toast in every browser, with or without a clipboard. */
const copyLast = (page: Page) => page.keyboard.press("Control+Shift+L");

// The last size is a phone with an open keyboard.
for (const [width, height] of [
  [1440, 800],
  [768, 800],
  [375, 720],
  [375, 360],
] as const)
  test(`does not cover the message box and its queue at ${width} × ${height}`, async ({ page }) => {
    await page.goto("/");
    await chooseModel(page, "openai/sim-long-3000");
    await ask(page, "A long answer, please.");
    await waitForText(page);
    for (const question of ["And then?", "And after that?", "And at the end?"]) await ask(page, question);
    await message(page).fill("One\ntwo\nthree\nlines");
    await page.setViewportSize({ width, height });
    await copyLast(page);
    await expect(toast(page)).toBeVisible();
    const [words, composer] = [
      await toast(page).boundingBox(),
      await page.locator("[data-part=composer]").boundingBox(),
    ];
    expect((words?.y ?? 0) + (words?.height ?? 0)).toBeLessThanOrEqual(composer?.y ?? 0);
    expect(words?.x).toBeGreaterThanOrEqual(0);
    expect((words?.x ?? 0) + (words?.width ?? 0)).toBeLessThanOrEqual(width);
    await page.getByRole("button", { name: "Stop" }).first().click();
  });

test("is announced, waits under the pointer, and can be dismissed", async ({ page }) => {
  await page.clock.install();
  await page.goto("/");
  await ask(page, "What is a run?");
  await page.clock.runFor(5_000);
  await ended(page);
  await copyLast(page);
  await expect(page.getByRole("status").filter({ has: toast(page) })).toContainText(/Copied|Not allowed/);
  await toast(page).hover();
  await page.clock.runFor(60_000);
  await toast(page).getByRole("button", { name: "Dismiss" }).click();
  await expect(toast(page)).toHaveCount(0);

  await copyLast(page);
  await expect(toast(page)).toBeVisible();
  await page.mouse.move(0, 0);
  await page.clock.runFor(6_000);
  await expect(toast(page)).toHaveCount(0);
});

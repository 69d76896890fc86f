// Tooltips and preview cards do not consume keys.
import {
  ask,
  useModel as chooseModel,
  ended,
  expect,
  message,
  type Page,
  response,
  stops,
  test,
  waitForText,
} from "./support/page.ts";
import { openWire } from "./support/wire.ts";

const tip = (page: Page) => page.locator("[data-part=tip]");

async function running(page: Page): Promise<void> {
  await page.goto("/");
  await chooseModel(page, "openai/sim-long-3000");
  await ask(page, "A long answer, please.");
  await waitForText(page);
}

test("Esc stops the answer while a tooltip shows, and closes the tooltip", async ({ page }) => {
  await running(page);
  const button = page.getByRole("button", { name: "Compare models" });
  await button.focus();
  await button.hover();
  await expect(tip(page)).toBeVisible();
  await page.keyboard.press("Escape");
  await ended(page, "cancelled");
  await expect(tip(page)).toHaveCount(0);
});

test("Esc closes the sidebar sheet while a tooltip shows in it", async ({ page }) => {
  await page.setViewportSize({ width: 375, height: 720 });
  await page.goto("/");
  await page.getByRole("button", { name: "Conversations" }).click();
  const sheet = page.getByRole("dialog", { name: "Conversations" });
  await sheet.getByRole("button", { name: "New chat" }).hover();
  await expect(tip(page)).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(sheet).toHaveCount(0);
});

test("shortcuts work while a tooltip shows", async ({ page }) => {
  await page.goto("/");
  await page.getByRole("button", { name: "Compare models" }).hover();
  await expect(tip(page)).toBeVisible();
  await page.keyboard.press("Control+b");
  await expect(page.locator("[data-part=sidebar]")).toHaveCount(0);
  await page.getByRole("button", { name: "Compare models" }).hover();
  await page.keyboard.press("Control+/");
  await expect(page.getByRole("dialog", { name: "Keyboard shortcuts" })).toBeVisible();
});

for (const card of ["excerpt", "cite-card"])
  test(`Esc stops the answer while a card shows: ${card}`, async ({ page, baseURL }) => {
    const wire = await openWire(baseURL ?? "");
    await page.goto(wire.url);
    const over = wire.holdBefore('"type":"done"');
    await ask(page, "How does Signalbox keep a stream alive when the connection drops?");
    await over;
    const head = stops(page, "search").first().getByRole("button").first();
    if ((await head.getAttribute("aria-expanded")) === "false") await head.click();
    const part = card === "excerpt" ? "source" : "cite";
    await response(page).locator(`[data-part=${part}]`).first().hover();
    await expect(page.locator(`[data-part=${card}]`)).toBeVisible();
    await message(page).blur();
    const stopped = page.waitForRequest((request) => request.url().endsWith("/stop"));
    await page.keyboard.press("Escape");
    await stopped;
    await expect(page.locator(`[data-part=${card}]`)).toHaveCount(0);
    wire.close();
  });

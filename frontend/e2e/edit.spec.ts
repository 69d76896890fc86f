// The layout of the edit box.
import { ask, ended, expect, message, type Page, test } from "./support/page.ts";

const box = (page: Page) => page.locator("[data-part=edit]");
const field = (page: Page) => box(page).getByRole("textbox");

async function placeOf(page: Page, what: ReturnType<typeof box>) {
  const found = await what.boundingBox();
  if (!found) throw new Error(`Nothing is shown of it at ${page.viewportSize()?.width}.`);
  return { ...found, right: found.x + found.width, bottom: found.y + found.height };
}

for (const width of [1440, 768, 375])
  test(`has padding around its text and between its buttons at ${width}`, async ({ page }) => {
    await page.goto("/");
    await ask(page, "What is a run?");
    await ended(page);
    await page.setViewportSize({ width, height: 800 });
    await message(page).press("ArrowUp");
    const [frame, words] = [await placeOf(page, box(page)), await placeOf(page, field(page))];
    expect(words.x - frame.x).toBeGreaterThanOrEqual(14);
    expect(words.y - frame.y).toBeGreaterThanOrEqual(14);
    expect(frame.right - words.right).toBeGreaterThanOrEqual(14);
    // Three lines, no wider than the lines of an answer.
    expect(words.height).toBeGreaterThanOrEqual(72);
    expect(words.width).toBeLessThanOrEqual(700);

    const buttons = box(page).getByRole("button");
    const [cancel, save] = [await placeOf(page, buttons.first()), await placeOf(page, buttons.last())];
    expect(save.x - cancel.right).toBeGreaterThanOrEqual(8);
    expect(cancel.y - words.bottom).toBeGreaterThanOrEqual(12);
    expect(frame.bottom - save.bottom).toBeGreaterThanOrEqual(12);
    for (const { height } of [cancel, save]) expect(height).toBeGreaterThanOrEqual(32);

    await field(page).fill("line\n".repeat(8));
    const grown = await placeOf(page, field(page));
    expect(grown.height).toBeGreaterThan(8 * 24);
    await field(page).fill("line\n".repeat(80));
    expect((await placeOf(page, field(page))).height).toBeLessThanOrEqual(0.4 * 800);
    await expect(box(page).getByRole("button", { name: "Cancel" })).toBeInViewport();
  });

// Code in an answer: highlighted while it streams, without changing its characters.
import { answer, ask, end, ended, expect, type Page, test, useModel } from "./support/page.ts";
import { openWire, type Wire } from "./support/wire.ts";

/** The answer contains a block of XML. */
const MODEL = "openai/sim-quirk-a11-fence";

let wire: Wire;

test.beforeEach(async ({ page, baseURL }) => {
  wire = await openWire(baseURL ?? "");
  await page.goto(wire.url);
  await useModel(page, MODEL);
});

test.afterEach(() => wire.close());

const block = (page: Page) => answer(page).locator("[data-part=code]");
const tags = (page: Page) => block(page).locator(".code-name");

/** Count each loss of colour, and each time that the block shrinks. */
const watchColours = (page: Page) =>
  page.evaluate(() => {
    const state = { words: 0, height: 0, losses: 0 };
    Object.assign(window, { colours: state });
    new MutationObserver(() => {
      const pre = document.querySelector("[data-part=code] pre");
      const words = pre?.querySelectorAll("[class^=code-]").length ?? 0;
      const height = pre?.clientHeight ?? 0;
      if (words < state.words || height < state.height) state.losses++;
      Object.assign(state, { words, height });
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
const losses = (page: Page) =>
  page.evaluate(() => (window as unknown as { colours: { losses: number } }).colours.losses);

test("code is highlighted while it streams, and keeps its colours", async ({ page }) => {
  await watchColours(page);
  const inTheBlock = wire.holdBefore("</tool_ca");
  await ask(page, "Show me code.");
  await inTheBlock;
  await expect(tags(page).first()).toHaveText("tool_call");
  await expect(end(page)).toHaveCount(0);
  await expect(block(page).getByRole("button")).toHaveCount(0);
  await expect(block(page).locator("pre")).toContainText("the tool loop");

  await wire.release();
  await ended(page);
  await expect(tags(page).nth(1)).toHaveText("tool_call");
  await expect(block(page).locator("pre")).toHaveText(/^<tool_call>\n.*\n<\/tool_call>\n<｜DSML｜tool_calls>/);
  expect(await losses(page)).toBe(0);
});

test("code keeps its layout while its language loads", async ({ page }) => {
  let load: () => void = () => undefined;
  const loaded = new Promise<void>((resolve) => {
    load = resolve;
  });
  await page.context().route(/\/xml-[^/]*\.js$/, async (route) => {
    await loaded;
    await route.continue();
  });
  await ask(page, "Show me code.");
  await ended(page);
  await expect(block(page).locator("pre")).toContainText("</tool_call>");
  await expect(tags(page)).toHaveCount(0);
  const place = await block(page).locator("pre").boundingBox();
  load();
  await expect(tags(page).first()).toHaveText("tool_call");
  expect(await block(page).locator("pre").boundingBox()).toEqual(place);
});

test("colours follow the theme", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "light" });
  await ask(page, "Show me code.");
  await ended(page);
  const colour = () =>
    tags(page)
      .first()
      .evaluate((word) => getComputedStyle(word).color);
  const light = await colour();
  await page.emulateMedia({ colorScheme: "dark" });
  expect(await colour()).not.toBe(light);
});

test("no ligatures are rendered, in blocks, inline and in fields", async ({ page }) => {
  await page.goto("/guide/chat-app.md");
  const drawn = (selector: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((code) => {
        const style = getComputedStyle(code);
        return style.fontVariantLigatures === "none" || style.fontFeatureSettings.includes('"calt" 0');
      });
  for (const selector of [".code pre code", ".prose p code"]) expect(await drawn(selector), selector).toBe(true);
});

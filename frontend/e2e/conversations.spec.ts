// The sidebar: list, search, rename, export, delete, other tabs, and saved answers.
import { readFile } from "node:fs/promises";
import {
  answer,
  ask,
  end,
  ended,
  expect,
  message,
  type Page,
  REFUSED,
  stops,
  test,
  useModel,
  waitForText,
} from "./support/page.ts";

const lines = (page: Page) => page.locator("[data-part=sidebar] [data-part=line]");
const here = (page: Page) => page.locator("[data-part=line]:has([aria-current=page])");
const search = (page: Page) => page.getByRole("textbox", { name: "Search conversations" });

/** Unique words for this test. */
let word: string;

test.use({ viewport: { width: 1280, height: 800 } });
test.beforeEach(async ({ page }) => {
  word = `w${crypto.randomUUID().slice(0, 8)}`;
  await page.goto("/");
});

async function menu(page: Page, item: string): Promise<void> {
  await here(page).hover();
  await here(page)
    .getByRole("button", { name: /^More for/ })
    .click();
  await page.getByRole("menuitem", { name: item, exact: true }).click();
}

test("a new chat is first in the list, and opens on a click", async ({ page }) => {
  await ask(page, `${word} first, hello.`);
  await ended(page);
  await page.getByRole("button", { name: "New chat" }).click();
  await expect(here(page)).toHaveCount(0);
  await ask(page, `${word} second, hello.`);
  await ended(page);
  await expect(lines(page).first()).toContainText(`${word} second`);
  await expect(lines(page).nth(1)).toContainText(`${word} first`);
  await expect(page.getByRole("heading", { name: "Today" })).toBeVisible();
  await lines(page).nth(1).getByRole("link").click();
  await expect(page.locator("[data-part=question]")).toContainText(`${word} first`);
  await expect(here(page)).toContainText(`${word} first`);
  await expect(page).toHaveTitle(`${word} first, hello. · Signalbox`);
  await page.goBack();
  await expect(page.locator("[data-part=question]")).toContainText(`${word} second`);
});

test("a conversation is listed under the day of its last message", async ({ page }) => {
  await ask(page, `${word} old, hello.`);
  await ended(page);
  const day = 86_400;
  const url = page.url();
  await page.goto("about:blank");
  await page.route("**/api/conversations?*", async (route) => {
    const answered = await route.fetch();
    const json = await answered.json();
    const [list] = Object.values(json).filter(Array.isArray) as Record<string, unknown>[][];
    const mine = list?.find(({ title }) => String(title).startsWith(word));
    if (mine) Object.assign(mine, { updated: Number(mine.updated) - 400 * day });
    await route.fulfill({ response: answered, json });
  });
  await page.goto(url);
  const year = new Date(Date.now() - 400 * day * 1000).getFullYear();
  await expect(page.getByRole("heading", { level: 3, name: new RegExp(`^\\w+ ${year}$`) })).toBeVisible();
  await page.unrouteAll({ behavior: "ignoreErrors" });
});

test("search finds words of messages and answers, highlights them, and is cleared by Escape", async ({ page }) => {
  await ask(page, `Hello ${word}.`);
  await ended(page);
  await menu(page, "Rename");
  await page.getByRole("textbox", { name: "Title" }).fill("Another name");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Control+k");
  await expect(search(page)).toBeFocused();
  await search(page).fill(word);
  await expect(lines(page)).toHaveCount(1);
  await expect(lines(page).locator("[data-part=match] mark")).toHaveText(word);
  await search(page).fill(`${word}zzz`);
  await expect(page.getByText(`No results for “\u2068${word}zzz\u2069”.`)).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(search(page)).toHaveValue("");
  await expect(lines(page).first()).toBeVisible();
});

test("a conversation is renamed by its menu and by F2, and Escape cancels", async ({ page }) => {
  await ask(page, `Hello ${word}.`);
  await ended(page);
  await menu(page, "Rename");
  const field = page.getByRole("textbox", { name: "Title" });
  await expect(field).toBeFocused();
  await field.fill(`${word} renamed`);
  await page.keyboard.press("Enter");
  await expect(here(page)).toContainText(`${word} renamed`);
  await expect(here(page).getByRole("link")).toBeFocused();
  await expect(page).toHaveTitle(`${word} renamed · Signalbox`);
  await page.keyboard.press("F2");
  await field.fill("not this");
  await page.keyboard.press("Escape");
  await expect(here(page)).toContainText(`${word} renamed`);
  await expect(here(page).getByRole("link")).toBeFocused();
  await page.reload();
  await expect(here(page)).toContainText(`${word} renamed`);
});

test("deleting asks once, closes the conversation, and its link reports that it is missing", async ({
  page,
  faults,
}) => {
  faults.allow(REFUSED);
  await ask(page, `Hello ${word}.`);
  await ended(page);
  const url = page.url();
  const before = await lines(page).count();
  await menu(page, "Delete");
  const dialog = page.getByRole("dialog", { name: "Delete this conversation?" });
  await expect(dialog).toContainText(word);
  await page.keyboard.press("Escape");
  await expect(dialog).toHaveCount(0);
  await expect(lines(page)).toHaveCount(before);
  await menu(page, "Delete");
  await dialog.getByRole("button", { name: "Delete" }).click();
  await expect(page.locator("[data-part=empty]")).toBeVisible();
  await expect(lines(page).filter({ hasText: word })).toHaveCount(0);
  expect(new URL(page.url()).hash).toBe("");
  await page.goto(url);
  await page.reload();
  await expect(page.getByRole("alert")).toContainText("This conversation was not found. It may have been deleted.");
});

test("a conversation is exported as Markdown and as JSON", async ({ page }) => {
  await ask(page, `What is a run? Search for it, ${word}.`);
  await ended(page);
  const exported = async (item: string) => {
    const downloading = page.waitForEvent("download");
    await menu(page, item);
    const download = await downloading;
    return { name: download.suggestedFilename(), text: await readFile(await download.path(), "utf8") };
  };
  const markdown = await exported("Export as Markdown");
  expect(markdown.name).toMatch(/\.md$/);
  expect(markdown.text).toContain(`What is a run? Search for it, ${word}.`);
  expect(markdown.text.length).toBeGreaterThan(300);
  const json = await exported("Export as JSON");
  expect(json.name).toMatch(/\.json$/);
  expect(JSON.stringify(JSON.parse(json.text))).toContain(word);
});

test("a running conversation has a lamp until it is over", async ({ page }) => {
  await useModel(page, "openai/sim-long-3000");
  await ask(page, `Hello ${word}.`);
  await waitForText(page);
  const line = lines(page).filter({ hasText: word });
  await expect(line.locator("[data-lamp=running]")).toBeVisible();
  // The run continues while another chat is open.
  await page.getByRole("button", { name: "New chat" }).click();
  await expect(line.locator("[data-lamp=running]")).toBeVisible();
  await line.getByRole("link").click();
  await waitForText(page);
  await message(page).press("Escape");
  await ended(page, "cancelled");
  await expect(line.locator("[data-lamp=running]")).toHaveCount(0);
});

test("another tab opens the same conversation by its link, and its list is updated", async ({ page, context }) => {
  await ask(page, `Hello ${word}.`);
  await ended(page);
  const other = await context.newPage();
  await other.setViewportSize({ width: 1280, height: 800 });
  const [opened] = await Promise.all([
    context.waitForEvent("page"),
    here(page)
      .getByRole("link")
      .click({ modifiers: ["ControlOrMeta"] }),
  ]);
  await opened.waitForLoadState();
  await expect(opened.locator("[data-part=question]")).toContainText(word);
  await other.goto("/");
  await expect(lines(other).first()).toContainText(word);
  await menu(page, "Rename");
  await page.getByRole("textbox", { name: "Title" }).fill(`${word} followed`);
  await page.keyboard.press("Enter");
  await expect(lines(other).first()).toContainText(`${word} followed`);
  await ask(page, "Once more, hello.");
  await ended(page);
  await expect(opened.locator("[data-part=question]")).toHaveCount(2);
  await menu(page, "Delete");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect(lines(other).filter({ hasText: word })).toHaveCount(0);
});

test("a saved answer reopens with the same panels, survives its conversation, and is deleted separately", async ({
  page,
}) => {
  await ask(page, `What is a run? Search for it, ${word}.`);
  await ended(page);
  const words = await answer(page).last().textContent();
  await end(page).getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name: "Save", exact: true }).click();
  await expect(page.getByText("Saved. Find it under Saved in the sidebar.")).toBeVisible();
  await menu(page, "Delete");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect(page.locator("[data-part=empty]")).toBeVisible();
  await page.getByRole("tab", { name: "Saved" }).click();
  await lines(page).filter({ hasText: word }).getByRole("link").click();
  await expect(page).toHaveURL(/#save=/);
  await expect(page.locator("[data-part=question]")).toContainText(word);
  await expect(answer(page).last()).toHaveText(words ?? "");
  await expect(stops(page, "search")).toContainText("Searched");
  await stops(page, "search").getByRole("button").first().click();
  await expect(page.locator("[data-part=source]").first()).toBeVisible();
  await expect(end(page).getByRole("button", { name: "Regenerate" })).toHaveCount(0);
  await expect(message(page)).toHaveCount(0);
  await page.reload();
  await expect(answer(page).last()).toHaveText(words ?? "");
  await page.locator("[data-part=line]:has([aria-current=page]) a").focus();
  await page.keyboard.press("Delete");
  await page.getByRole("dialog", { name: "Delete this saved answer?" }).getByRole("button", { name: "Delete" }).click();
  await expect(page.locator("[data-part=empty]")).toBeVisible();
  await expect(lines(page).filter({ hasText: word })).toHaveCount(0);
});

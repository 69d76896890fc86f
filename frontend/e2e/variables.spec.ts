// Variables in a message: marked before sending, filled in when sent, and asked for if they have no value.
import { ask, ended, expect, message, type Page, test } from "./support/page.ts";

test.beforeEach(({ page }) => page.goto("/"));

const chips = (page: Page) => page.getByRole("list", { name: "Variables" });
const question = (page: Page) => page.locator("[data-part=question]").last();
const form = (page: Page) => page.getByRole("dialog", { name: "Fill in the variables" });

/** The text of the sent message. */
async function sent(page: Page, act: () => Promise<void>): Promise<string> {
  const posted = page.waitForRequest("**/api/chat/stream");
  await act();
  const body = (await posted).postDataJSON();
  await ended(page);
  return body.messages[0].content;
}

test("the date is marked with its value and filled in at sending", async ({ page }) => {
  await message(page).fill("What happened on {{date}} in history?");
  await expect(chips(page).getByRole("listitem")).toHaveText(/\{\{date\}\}.*\d{4}-\d{2}-\d{2}/);
  const text = await sent(page, () => page.keyboard.press("Enter"));
  expect(text).toMatch(/^What happened on \d{4}-\d{2}-\d{2} in history\?$/);
  await expect(question(page)).toContainText(text);
  await expect(chips(page)).toHaveCount(0);
});

test("a variable without a value is asked for before anything is sent", async ({ page }) => {
  let posts = 0;
  page.on("request", (request) => request.url().endsWith("/api/chat/stream") && posts++);
  await message(page).fill("Write to {{name}} about {{topic}}, dear {{name}}.");
  await expect(chips(page).getByRole("listitem")).toHaveText([/\{\{name\}\}/, /\{\{topic\}\}/]);
  await page.keyboard.press("Enter");
  await expect(form(page)).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(form(page)).toHaveCount(0);
  await expect(message(page)).toHaveValue("Write to {{name}} about {{topic}}, dear {{name}}.");
  expect(posts).toBe(0);

  await message(page).press("Enter");
  await expect(form(page).getByRole("textbox", { name: "name" })).toBeFocused();
  await page.keyboard.type("Ada");
  await form(page).getByRole("textbox", { name: "topic" }).fill("trains");
  expect(await sent(page, () => page.keyboard.press("Enter"))).toBe("Write to Ada about trains, dear Ada.");
  expect(posts).toBe(1);
  await expect(message(page)).toHaveValue("");
  await expect(message(page)).toBeFocused();
});

test("a text can be sent as written, and braces in code are left alone", async ({ page }) => {
  await ask(page, "Explain {{greeting}}.");
  expect(await sent(page, () => form(page).getByRole("button", { name: "Send as written" }).click())).toBe(
    "Explain {{greeting}}.",
  );
  const code = "What does this do?\n\n```jinja\n{{ user }} {{date}}\n```\n\nAnd `{{time}}`?";
  await message(page).fill(code);
  await expect(chips(page)).toHaveCount(0);
  expect(await sent(page, () => page.keyboard.press("Enter"))).toBe(code);
});

test("an edited message is filled in too", async ({ page }) => {
  await ask(page, "Hello.");
  await ended(page);
  await question(page).hover();
  await question(page).getByRole("button", { name: "Edit" }).click();
  const box = page.getByRole("textbox", { name: "Edit message" });
  await box.fill("Greet {{person}} on {{date}}.");
  await expect(chips(page).getByRole("listitem")).toHaveCount(2);
  await box.press("Control+Enter");
  await form(page).getByRole("textbox", { name: "person" }).fill("Grace");
  const text = await sent(page, () => form(page).getByRole("button", { name: "Send", exact: true }).click());
  expect(text).toMatch(/^Greet Grace on \d{4}-\d{2}-\d{2}\.$/);
  await expect(question(page)).toContainText("Greet Grace on ");
});

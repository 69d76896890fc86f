// Messages that wait for the model list or for their conversation. Each is sent once.
import { ask, ended, expect, expectAccessible, type Page, REFUSED, response, test, useModel } from "./support/page.ts";
import { posts, questions, queue, runsIn } from "./support/waitingMessages.ts";

const LOADING = "Loading the models. Your message will be sent when they are loaded.";
const NO_LIST = "The models couldn't be loaded. Try again, or choose a model to send your message.";

/** Hold the model list until the result is called. */
async function holdList(page: Page): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route("**/api/models*", async (route) => {
    await promise;
    await route.continue();
  });
  return resolve;
}

test.describe("while the model list is loading", () => {
  test("a message waits with a notice, then it is sent once", async ({ page }) => {
    const all = posts(page);
    const release = await holdList(page);
    await page.goto("/");
    await ask(page, "Hello.");
    await expect(queue(page)).toContainText(LOADING);
    await expect(queue(page)).toContainText("Hello.");
    await expect(page.getByRole("alert")).toHaveCount(0);
    expect(all).toEqual([]);
    release();
    await ended(page);
    await expect(queue(page)).toHaveCount(0);
    expect(all.map(({ text, model }) => [text, model])).toEqual([["Hello.", "openai/sim"]]);
    expect(await runsIn(page, all[0]?.conversation ?? "")).toBe(1);
  });

  test("several messages are sent one after the other", async ({ page }) => {
    const all = posts(page);
    const release = await holdList(page);
    await page.goto("/");
    for (const text of ["One.", "Two.", "Three."]) await ask(page, text);
    await expect(queue(page).getByRole("listitem")).toHaveCount(3);
    release();
    await expect(questions(page)).toHaveCount(3);
    await ended(page);
    expect(all.map(({ text }) => text)).toEqual(["One.", "Two.", "Three."]);
  });

  test("a reload keeps the message, and it is sent once", async ({ page, faults }) => {
    // The server does not know the conversation yet.
    faults.allow(REFUSED);
    const all = posts(page);
    const release = await holdList(page);
    await page.goto("/");
    await ask(page, "Still there?");
    await expect(queue(page)).toContainText("Still there?");
    await page.reload();
    await expect(queue(page)).toContainText("Still there?");
    release();
    await ended(page);
    await expect(questions(page)).toHaveCount(1);
    expect(all.map(({ text }) => text)).toEqual(["Still there?"]);
  });

  test("a list that failed is requested again, and the message is sent", async ({ page, faults }) => {
    faults.allow(REFUSED);
    const all = posts(page);
    let failures = 0;
    await page.route("**/api/models*", (route) => (failures++ < 2 ? route.fulfill({ status: 503 }) : route.continue()));
    await page.goto("/");
    await ask(page, "Hello.");
    await ended(page);
    expect(all.map(({ text }) => text)).toEqual(["Hello."]);
  });

  test("without a list the message stays, with two ways to send it", async ({ page, faults }) => {
    faults.allow(REFUSED);
    await page.clock.install();
    const all = posts(page);
    let works = false;
    await page.route("**/api/models*", (route) => (works ? route.continue() : route.fulfill({ status: 503 })));
    await page.goto("/");
    await ask(page, "First.");
    await expect(queue(page)).toContainText(LOADING);
    for (let attempt = 0; attempt < 5; attempt++) {
      await page.clock.runFor(10_000);
      await page.waitForLoadState("networkidle");
    }
    await expect(queue(page)).toContainText(NO_LIST);
    await expect(queue(page)).toContainText("First.");
    await useModel(page, "openai/sim");
    await expect(questions(page)).toHaveCount(1);
    await ended(page);

    await page.evaluate(() => localStorage.clear());
    await page.goto("/");
    await page.reload();
    await ask(page, "Second.");
    for (let attempt = 0; attempt < 5; attempt++) {
      await page.clock.runFor(10_000);
      await page.waitForLoadState("networkidle");
    }
    await expect(queue(page)).toContainText(NO_LIST);
    works = true;
    await queue(page).getByRole("button", { name: "Try again" }).click();
    await ended(page);
    expect(all.map(({ text }) => text)).toEqual(["First.", "Second."]);
  });

  test("with a chosen model, a message needs no list", async ({ page }) => {
    await page.goto("/");
    await useModel(page, "openai/gpt-4o");
    const release = await holdList(page);
    await page.reload();
    await ask(page, "Hello.");
    await ended(page);
    await expect(queue(page)).toHaveCount(0);
    release();
  });
});

test("another answer and another version wait for the model list, with a notice", async ({ page }) => {
  await page.goto("/");
  await ask(page, "Hello.");
  await ended(page);
  const all = posts(page);
  const release = await holdList(page);
  await page.reload();
  await ended(page);
  await response(page).getByRole("button", { name: "Regenerate" }).click();
  await expect(queue(page)).toContainText(LOADING);
  await expect(queue(page)).toContainText("Regenerate: Hello.");
  await page.getByRole("button", { name: "Edit", exact: true }).first().click();
  await page.getByRole("textbox", { name: "Edit message" }).fill("Hello again.");
  await page.keyboard.press("Control+Enter");
  await expect(queue(page)).toContainText("Hello again.");
  await expect(page.getByRole("alert")).toHaveCount(0);
  await expectAccessible(page);
  expect(all).toEqual([]);
  release();
  await expect(page.getByRole("group", { name: "Versions of the message" })).toContainText("2");
  await ended(page);
  await expect(queue(page)).toHaveCount(0);
  expect(all.map(({ text }) => text)).toEqual([undefined, "Hello again."]);
});

test.describe("in a conversation that is deleted elsewhere", () => {
  const GONE = "This conversation no longer exists. Start a new chat to send your message.";

  test.beforeEach(async ({ page, faults }) => {
    faults.allow(REFUSED);
    await page.goto("/");
    await ask(page, "Hello.");
    await ended(page);
  });

  const remove = async (page: Page) => {
    const [, conversation] = page.url().split("#c=");
    expect((await page.request.delete(`/api/conversations/${conversation}`)).ok()).toBe(true);
    return conversation;
  };

  async function expectMoved(page: Page, from: string | undefined, texts: readonly string[]): Promise<void> {
    await expect(questions(page)).toHaveCount(texts.length, { timeout: 30_000 });
    await ended(page);
    await expect(queue(page)).toHaveCount(0);
    await expect(page.getByRole("alert")).toHaveCount(0);
    for (const [at, text] of texts.entries()) await expect(questions(page).nth(at)).toContainText(text);
    expect(page.url()).not.toContain(from);
    expect(await runsIn(page, page.url().split("#c=")[1] ?? "")).toBe(texts.length);
  }

  test("messages that waited for the connection move to a new chat", async ({ page, context }) => {
    await context.setOffline(true);
    await ask(page, "Second.");
    await ask(page, "Third.");
    await expect(queue(page).getByRole("listitem")).toHaveCount(2);
    const old = await remove(page);
    await context.setOffline(false);
    await expect(queue(page)).toContainText(GONE);
    await expect(queue(page).getByRole("listitem")).toHaveCount(1);
    await expect(response(page).getByRole("button", { name: "New chat" })).toBeVisible();
    await expectAccessible(page);
    await queue(page).getByRole("button", { name: "New chat" }).click();
    await expectMoved(page, old, ["Second.", "Third."]);
  });

  test("a rejected message moves to a new chat from its error", async ({ page }) => {
    const old = await remove(page);
    await ask(page, "Second.");
    await response(page).getByRole("button", { name: "New chat" }).click();
    await expectMoved(page, old, ["Second."]);
  });

  test("a reload does not recreate it", async ({ page }) => {
    const release = await holdList(page);
    await page.reload();
    await ended(page);
    await ask(page, "Second.");
    await expect(queue(page)).toContainText(LOADING);
    const old = await remove(page);
    await page.reload();
    await expect(queue(page)).toContainText(GONE);
    await expect(queue(page)).toContainText("Second.");
    release();
    await queue(page).getByRole("button", { name: "New chat" }).click();
    await expectMoved(page, old, ["Second."]);
  });
});

test("a conversation that failed to open is retried automatically, and its queue is sent", async ({ page, faults }) => {
  faults.allow(/console: Failed to load resource/);
  await page.goto("/");
  await useModel(page, "openai/sim");
  await ask(page, "Before.");
  await ended(page);
  await page.route("**/api/conversations/*", (route) => route.fulfill({ status: 503, body: "" }));
  await page.reload();
  await expect(page.getByRole("alert")).toContainText("503");
  await ask(page, "Meanwhile.");
  await expect(queue(page)).toContainText("Meanwhile.");
  await page.unroute("**/api/conversations/*");
  await expect(questions(page)).toHaveCount(2);
  await ended(page);
  await expect(queue(page)).toHaveCount(0);
  await expect(page.getByRole("alert")).toHaveCount(0);
});

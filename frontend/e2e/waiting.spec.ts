// Messages that cannot be sent yet, because the model list is loading or there is no connection. Each is sent once.
import {
  answer,
  ask,
  ended,
  expect,
  expectAccessible,
  message,
  type Page,
  REFUSED,
  response,
  test,
  useModel,
} from "./support/page.ts";
import { openWire, type Wire } from "./support/wire.ts";

const OFFLINE = "You're offline. Your message will be sent when you're back online.";
const LOADING = "Loading the models. Your message will be sent when they are loaded.";
const NO_LIST = "The models couldn't be loaded. Try again, or choose a model to send your message.";

const queue = (page: Page) => page.getByRole("region", { name: "Queued messages" });
const questions = (page: Page) => page.locator("[data-part=question]");

/** All further messages over all tabs: text, key, model and conversation. */
function posts(page: Page): { text: string; key: string; model: string; conversation: string }[] {
  const all: ReturnType<typeof posts> = [];
  page.context().on("request", (request) => {
    if (!request.url().endsWith("/api/chat/stream")) return;
    const body = request.postDataJSON();
    const key = request.headers()["idempotency-key"] ?? "";
    all.push({ text: body.messages?.[0]?.content, key, model: body.model, conversation: body.conversation_id });
  });
  return all;
}

/** The number of runs in a conversation on the server. */
async function runsIn(page: Page, conversation: string): Promise<number> {
  const { messages } = await (await page.request.get(`/api/conversations/${conversation}`)).json();
  return messages.filter(({ role }: { role: string }) => role === "assistant").length;
}

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

test.describe("without a connection", () => {
  test.beforeEach(async ({ page, faults }) => {
    faults.allow(/console: Failed to load resource: net::ERR_/);
    await page.goto("/");
    await ask(page, "Hello.");
    await ended(page);
  });

  test("a dialog that cannot be loaded leaves the chat unchanged", async ({ page }) => {
    await page.route("**/assets/TokenDialog-*.js", (route) => route.abort("internetdisconnected"));
    const failed = page.waitForEvent("requestfailed", (request) => request.url().includes("TokenDialog"));
    await page.reload();
    await failed;
    await ask(page, "Still there?");
    await expect(questions(page)).toHaveCount(2);
    await ended(page);
  });

  test("a message waits with a notice, is sent once when the connection is back, and shows no cost", async ({
    page,
    context,
  }) => {
    const all = posts(page);
    await context.setOffline(true);
    await ask(page, "Are you there?");
    await expect(queue(page)).toContainText(OFFLINE);
    await expect(queue(page)).toContainText("Are you there?");
    await expect(page.getByRole("alert")).toHaveCount(0);
    await expect(page.locator("footer, [role=alert]").filter({ hasText: /costs?\b|billed/i })).toHaveCount(0);
    await context.setOffline(false);
    await expect(questions(page)).toHaveCount(2);
    await ended(page);
    await expect(queue(page)).toHaveCount(0);
    expect(all.map(({ text }) => text)).toEqual(["Are you there?"]);
    expect(await runsIn(page, all[0]?.conversation ?? "")).toBe(2);
  });

  test("a waiting message can be edited and deleted", async ({ page, context }) => {
    const all = posts(page);
    await context.setOffline(true);
    await ask(page, "First.");
    await ask(page, "Second.");
    await queue(page).getByRole("button", { name: "Delete" }).last().click();
    await expect(queue(page)).not.toContainText("Second.");
    await queue(page).getByRole("button", { name: "Edit" }).click();
    await expect(message(page)).toHaveValue("First.");
    await expect(queue(page)).toHaveCount(0);
    await message(page).fill("Third.");
    await page.keyboard.press("Enter");
    await expect(queue(page)).toContainText("Third.");
    await context.setOffline(false);
    await expect(questions(page)).toHaveCount(2);
    await ended(page);
    expect(all.map(({ text }) => text)).toEqual(["Third."]);
  });

  test("a reload keeps the waiting message, and it is sent once", async ({ page }) => {
    const all = posts(page);
    // The browser is offline and the API unreachable. Only the page itself loads.
    await page.addInitScript(() => {
      Object.defineProperty(navigator, "onLine", { get: () => sessionStorage.getItem("online") === "yes" });
    });
    await page.route(/\/(api|health)\//, (route) => route.abort("internetdisconnected"));
    await page.reload();
    await ask(page, "After the tunnel.");
    await expect(queue(page)).toContainText(OFFLINE);
    await page.reload();
    await expect(queue(page)).toContainText("After the tunnel.");
    await expect(queue(page)).toContainText(OFFLINE);
    await expect(page.getByRole("navigation", { name: "Conversations" })).toContainText("when you're back online");
    await expect(page.getByRole("alert")).toHaveCount(0);
    await expect(page.getByText("Signalbox does not answer")).toHaveCount(0);
    expect(all).toEqual([]);
    await page.unroute(/\/(api|health)\//);
    await page.evaluate(() => {
      sessionStorage.setItem("online", "yes");
      window.dispatchEvent(new Event("online"));
    });
    await expect(questions(page)).toHaveCount(2);
    await ended(page);
    await expect(page.locator("[data-part=line]", { hasText: "Hello." }).first()).toBeVisible();
    expect(all.map(({ text }) => text)).toEqual(["After the tunnel."]);
  });

  test("a duplicated tab does not send it a second time", async ({ page, context }) => {
    const all = posts(page);
    await context.setOffline(true);
    await ask(page, "Once only.");
    await expect(queue(page)).toContainText(OFFLINE);
    const kept = await page.evaluate(() => ({ ...sessionStorage }));
    const address = page.url();
    // A new tab with a copy of the storage, like "Duplicate tab".
    const other = await context.newPage();
    await other.addInitScript((copy) => {
      if (!sessionStorage.length) for (const [name, value] of Object.entries(copy)) sessionStorage.setItem(name, value);
    }, kept);
    await context.setOffline(false);
    await other.goto(address);
    await ended(page);
    await ended(other);
    for (const tab of [page, other]) {
      await expect(questions(tab)).toHaveCount(2);
      await expect(queue(tab)).toHaveCount(0);
    }
    expect(new Set(all.map(({ key }) => key)).size).toBe(1);
    expect(await runsIn(page, all[0]?.conversation ?? "")).toBe(2);
  });

  test("a running answer continues when the connection is back, with a notice until then", async ({
    page,
    context,
    baseURL,
  }) => {
    const wire = await openWire(baseURL ?? "");
    try {
      await page.goto(wire.url);
      await useModel(page, "openai/sim-long-600");
      await ask(page, "A long answer, please.");
      await expect(answer(page).last()).toContainText(/\w+ \w+ \w+/);
      await context.setOffline(true);
      wire.cut();
      await expect(response(page)).toContainText("You're offline. The answer will continue when you're back online.");
      await expect(page.locator("footer, [role=alert]").filter({ hasText: /costs?\b|billed/i })).toHaveCount(0);
      await context.setOffline(false);
      await ended(page);
    } finally {
      wire.close();
    }
  });
});

test.describe("if the server cannot be reached", () => {
  const UNREACHABLE = "Signalbox can't be reached. Your message will be sent when the connection is back.";
  let wire: Wire;
  test.beforeEach(async ({ page, baseURL, faults }) => {
    faults.allow(/console: Failed to load resource: net::ERR_/);
    wire = await openWire(baseURL ?? "");
    await page.goto(wire.url);
    await ask(page, "Hello.");
    await ended(page);
  });
  test.afterEach(() => wire.close());

  test("a message waits for it, and is sent once", async ({ page }) => {
    const all = posts(page);
    wire.down();
    await ask(page, "Are you there?");
    await expect(response(page)).toContainText(UNREACHABLE);
    await expect(page.getByRole("alert")).toHaveCount(0);
    await expect(response(page)).not.toContainText(/cost|billed/i);
    wire.up();
    await ended(page);
    expect(new Set(all.map(({ key }) => key)).size).toBe(1);
    expect(await runsIn(page, all[0]?.conversation ?? "")).toBe(2);
  });

  test("every compared model waits for it, and is requested once", async ({ page }) => {
    const models = ["anthropic/sim", "openai/sim"];
    await page.evaluate((compared) => {
      const kept = JSON.parse(localStorage.getItem("signalbox.settings") ?? "{}");
      localStorage.setItem("signalbox.settings", JSON.stringify({ version: 1, ...kept, compared }));
    }, models);
    await page.reload();
    await expect(page.getByRole("group", { name: "Models to compare" })).toBeVisible();
    await page.waitForLoadState("networkidle");
    const all = posts(page);
    wire.down();
    await ask(page, "Are you there?");
    const columns = page.locator("[data-part=column]");
    await expect(columns).toHaveCount(2);
    for (const model of models)
      await expect(page.locator(`[data-part=column][data-model="${model}"]`)).toContainText(UNREACHABLE);
    wire.up();
    await expect(columns.locator("[data-part=end][data-status=complete]")).toHaveCount(2);
    await expect(columns.filter({ hasText: UNREACHABLE })).toHaveCount(0);
    expect(new Set(all.map(({ key, model }) => `${key} ${model}`)).size).toBe(2);
    // The first answer, and one per column.
    expect(await runsIn(page, all[0]?.conversation ?? "")).toBe(3);
  });

  test("a waiting message can be cancelled, and is not sent", async ({ page }) => {
    wire.down();
    await ask(page, "Are you there?");
    await expect(response(page)).toContainText(UNREACHABLE);
    const { all } = { all: posts(page) };
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await ended(page, "cancelled");
    await expect(response(page)).not.toContainText(/cost|billed/i);
    const before = all.length;
    wire.up();
    await ask(page, "And now?");
    await ended(page);
    expect(all.slice(before).map(({ text }) => text)).toEqual(["And now?"]);
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

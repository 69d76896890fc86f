// Messages and answers without a connection, or while the server cannot be reached. Each message is sent once.
import { answer, ask, ended, expect, message, response, test, useModel } from "./support/page.ts";
import { OFFLINE, posts, questions, queue, runsIn } from "./support/waitingMessages.ts";
import { openWire, type Wire } from "./support/wire.ts";

test.describe("without a connection", () => {
  test.beforeEach(async ({ page, faults }) => {
    faults.allow(/console: Failed to load resource: net::ERR_/);
    await page.goto("/");
    await ask(page, "Hello.");
    await ended(page);
  });

  test("a dialog that cannot be loaded leaves the chat unchanged", async ({ page }) => {
    await page.route("**/assets/AccessDialog-*.js", (route) => route.abort("internetdisconnected"));
    const failed = page.waitForEvent("requestfailed", (request) => request.url().includes("AccessDialog"));
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

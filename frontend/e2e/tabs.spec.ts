// The same run in several tabs, and more answers than the browser can stream.
import { askLong, connection, stop } from "./support/longAnswers.ts";
import { ask, end, ended, expect, journal, message, said, shown, test, useModel, waitForText } from "./support/page.ts";

test.describe("several tabs", () => {
  test("a stop in one tab ends the answer in the other", async ({ page, context }) => {
    await page.goto("/");
    const runId = await askLong(page, 3000);
    const other = await context.newPage();
    await other.goto(`/#run=${runId}`);
    await waitForText(other);
    await expect(message(other)).toHaveCount(0);
    await expect(other.locator("footer")).toContainText(
      "This answer is being written for a request made elsewhere, for example through the API.",
    );
    await stop(other).click();
    await ended(page, "cancelled");
    await ended(other, "cancelled");
    await expect(stop(other)).toHaveCount(0);
    const whole = await said(page, runId);
    expect([await shown(page), await shown(other)]).toEqual([whole, whole]);
    await expect(end(other).getByRole("button", { name: "Regenerate" })).toHaveCount(0);
    await other.reload();
    await ended(other, "cancelled");
    expect(await shown(other)).toBe(whole);
  });

  test("the same conversation in a second tab is stopped too", async ({ page, context }) => {
    await page.goto("/");
    const runId = await askLong(page, 3000);
    const other = await context.newPage();
    await other.goto(page.url());
    await waitForText(other);
    await stop(other).click();
    await ended(page, "cancelled");
    await ended(other, "cancelled");
    expect((await journal(page, runId)).at(-1)).toMatchObject({ status: "cancelled" });
  });

  test("four answers stream at once, the fifth is polled, and every stop works at once", async ({ page, context }) => {
    const open = new Set<object>();
    let most = 0;
    context.on("request", (request) => {
      const { pathname, search } = new URL(request.url());
      if (!/\/api\/(chat\/stream|runs\/\w+\/events)$/.test(pathname) || search.includes("follow=false")) return;
      open.add(request);
      most = Math.max(most, open.size);
    });
    context.on("requestfinished", (request) => open.delete(request));
    context.on("requestfailed", (request) => open.delete(request));

    // Wide enough for four columns with their Stop buttons.
    await page.setViewportSize({ width: 1720, height: 900 });
    await page.goto("/");
    const models = ["openai", "anthropic", "google", "qwen"].map((family) => `${family}/sim-long-3000`);
    await page.evaluate((compared) => {
      const kept = JSON.parse(localStorage.getItem("signalbox.settings") ?? "{}");
      localStorage.setItem("signalbox.settings", JSON.stringify({ version: 1, ...kept, compared }));
    }, models);
    await page.reload();
    await expect(page.locator("[data-part=compared-model]")).toHaveCount(4);
    await ask(page, "A long answer, please.");
    const columns = page.locator("[data-part=column]");
    await expect(columns).toHaveCount(4);
    for (const column of await columns.all()) {
      await expect(column.locator("[data-part=answer]").last()).toContainText(/\w+ \w+ \w+/, { timeout: 20_000 });
    }

    const other = await context.newPage();
    await other.goto("/");
    await other.getByRole("button", { name: "Compare models" }).click();
    await useModel(other, "openai/sim-long-2000");
    await ask(other, "A long answer, please.");
    await expect(connection(other)).toHaveText(/Updated once a second, because four other answers are streaming\./);
    await waitForText(other);
    expect(most).toBeLessThanOrEqual(5);
    expect(open.size).toBeLessThanOrEqual(4);

    const within = { timeout: 1500 };
    await stop(other).click();
    await expect(end(other)).toHaveAttribute("data-status", "cancelled", within);
    await page.bringToFront();
    await page.getByRole("button", { name: "Stop sim-long-3000 · OpenAI" }).click();
    await expect(columns.first().locator("[data-part=end]")).toHaveAttribute("data-status", "cancelled", within);
    await stop(page).click();
    for (const column of await columns.all()) {
      await expect(column.locator("[data-part=end]")).toHaveAttribute("data-status", "cancelled", within);
    }
  });
});

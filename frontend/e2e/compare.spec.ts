// Compare: one message, two to four models side by side.
import { ask, ended, expect, message, type Page, REFUSED, test } from "./support/page.ts";

const SEARCH = "What is a run? Search for it.";

const column = (page: Page, model: string) => page.locator(`[data-part=column][data-model="${model}"]`);
const columns = (page: Page) => page.locator("[data-part=column]");
const endOf = (page: Page, model: string) => column(page, model).locator("[data-part=end]");
const compared = (page: Page) => page.getByRole("group", { name: "Models to compare" });

/** Compare exactly these models, in this order. */
async function compare(page: Page, ...models: string[]): Promise<void> {
  await page.goto("/");
  await page.getByRole("button", { name: "Compare models" }).click();
  await expect(compared(page).locator("[data-part=compared-model]")).toHaveCount(2);
  const chosen = compared(page).locator("[data-part=compared-model]");
  // A comparison has at least two models, so a model is added before another is removed.
  const first = await chosen.evaluateAll((all) => all.map((one) => one.getAttribute("title") ?? ""));
  const unwanted = first.filter((id) => !models.includes(id));
  for (const model of models.filter((id) => !first.includes(id))) {
    await add(page, model);
    const id = unwanted.pop();
    if (id)
      await compared(page)
        .locator(`[title="${id}"]`)
        .getByRole("button", { name: /^Remove/ })
        .click();
  }
  await expect(compared(page).locator("[data-part=compared-model]")).toHaveCount(models.length);
}

async function add(page: Page, model: string): Promise<void> {
  await page.getByRole("button", { name: "Add a model" }).click();
  await page.getByRole("combobox", { name: "Model to compare" }).fill(model);
  await page.locator(`[role=option][data-model="${model}"], [data-part=free-id]`).first().click();
  await expect(compared(page).locator(`[title="${model}"]`)).toBeVisible();
}

test("two models answer one message, and the chat continues from the chosen answer", async ({ page }) => {
  await compare(page, "openai/sim", "openai/gpt-4o");
  const bodies: Record<string, unknown>[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/api/chat/stream")) bodies.push(request.postDataJSON());
  });
  await ask(page, SEARCH);
  await expect(columns(page)).toHaveCount(2);
  await expect(columns(page).locator("[data-part=end]")).toHaveCount(2, { timeout: 30_000 });
  expect(bodies.map(({ model }) => model).toSorted()).toEqual(["openai/gpt-4o", "openai/sim"]);
  await expect(page.locator("[data-part=question]")).toHaveCount(1);
  for (const model of ["openai/sim", "openai/gpt-4o"]) {
    await expect(endOf(page, model).locator("[data-fact=first]")).toContainText(/first token \d/);
    await expect(endOf(page, model).locator("[data-fact=cost]")).toContainText(/\$0\.\d/);
  }
  await expect(column(page, "openai/sim")).toContainText("Your next message continues from this answer.");
  await column(page, "openai/gpt-4o")
    .getByRole("button", { name: /^Continue with this answer/ })
    .click();
  await expect(column(page, "openai/gpt-4o")).toHaveAttribute("data-chosen", "true");
  await expect(column(page, "openai/sim")).toHaveAttribute("data-chosen", "false");

  // Remove all but one model. The chat continues with one model after the chosen answer.
  const chosen = await column(page, "openai/gpt-4o").locator("[data-part=response]").getAttribute("data-run");
  await page.getByRole("button", { name: "Compare models" }).click();
  await expect(page.getByRole("button", { name: /^Model: / })).toBeVisible();
  await ask(page, "And what is a journal?");
  await ended(page);
  expect(bodies.at(-1)?.parent_id).toBe(chosen);

  // After a reload, the answers are still side by side, and can be shown one at a time.
  await page.reload();
  await expect(columns(page)).toHaveCount(2);
  await expect(column(page, "openai/gpt-4o")).toHaveAttribute("data-chosen", "true");
  await page.getByRole("button", { name: "Show one answer" }).click();
  await expect(columns(page)).toHaveCount(0);
  await expect(page.getByRole("group", { name: "Versions of the answer" })).toContainText("2");
  await page.getByRole("button", { name: "Show all 2 side by side" }).click();
  await expect(columns(page)).toHaveCount(2);
});

test("four at once, one of them stopped while the others go on", async ({ page }) => {
  const models = ["openai/sim-long-20000", "anthropic/sim-long-20000", "google/sim", "mistralai/sim"];
  await page.setViewportSize({ width: 1920, height: 900 });
  await compare(page, ...models);
  await expect(page.getByRole("button", { name: "Add a model" })).toHaveCount(0);
  await ask(page, SEARCH);
  await expect(columns(page)).toHaveCount(4);
  for (const model of models.slice(0, 2))
    await expect(column(page, model).locator("[data-part=answer]")).toContainText(/\w+ \w+ \w+/, { timeout: 20_000 });
  await page.getByRole("button", { name: "Stop sim-long-20000 · OpenAI" }).click();
  await expect(endOf(page, "openai/sim-long-20000")).toHaveAttribute("data-status", "cancelled");
  const other = column(page, "anthropic/sim-long-20000").locator("[data-part=answer]");
  const before = (await other.textContent())?.length ?? 0;
  await expect.poll(async () => (await other.textContent())?.length).toBeGreaterThan(before);
  for (const model of models.slice(2))
    await expect(endOf(page, model)).toHaveAttribute("data-status", "complete", { timeout: 20_000 });
  // The Stop button of the message box stops the remaining answers.
  await page.locator("[data-part=composer]").getByRole("button", { name: "Stop" }).click();
  await expect(endOf(page, "anthropic/sim-long-20000")).toHaveAttribute("data-status", "cancelled");
  await expect(page.getByRole("button", { name: "Send" })).toBeVisible();
});

test("a failed column does not affect the other", async ({ page, faults }) => {
  faults.allow(REFUSED);
  await compare(page, "openai/sim-error-500", "openai/sim");
  await ask(page, SEARCH);
  await expect(endOf(page, "openai/sim")).toHaveAttribute("data-status", "complete", { timeout: 30_000 });
  await expect(endOf(page, "openai/sim-error-500")).toHaveAttribute("data-status", "error", { timeout: 30_000 });
  await expect(column(page, "openai/sim-error-500").getByRole("alert")).toBeVisible();
  await expect(column(page, "openai/sim").getByRole("alert")).toHaveCount(0);
  // No message can follow a failed answer.
  await expect(column(page, "openai/sim")).toContainText("Your next message continues from this answer.");
  await expect(column(page, "openai/sim-error-500")).toContainText("There is no answer to continue from.");
  await expect(page.getByRole("button", { name: /^Continue with this answer/ })).toHaveCount(0);
  const posted = page.waitForRequest("**/api/chat/stream");
  await column(page, "openai/sim-error-500").getByRole("button", { name: "Retry" }).click();
  expect((await posted).postDataJSON().model).toBe("openai/sim-error-500");
});

const order = (page: Page) => columns(page).evaluateAll((all) => all.map((one) => one.getAttribute("data-model")));
const FOUR = ["qwen/sim", "openai/sim", "anthropic/sim", "google/sim"];

test("the columns keep their order and figures, after a retry and a reload too", async ({ page, faults }) => {
  faults.allow(REFUSED);
  const models = ["qwen/sim", "openai/sim-error-500", "anthropic/sim"];
  await compare(page, ...models);
  await ask(page, "Hello.");
  await expect(columns(page).locator("[data-part=end]")).toHaveCount(3, { timeout: 30_000 });
  await column(page, "qwen/sim").getByRole("button", { name: "Regenerate" }).click();
  await expect(endOf(page, "qwen/sim")).toHaveAttribute("data-status", "complete", { timeout: 30_000 });
  expect(await order(page)).toEqual(models);
  const figures = async () => {
    const ends = ["qwen/sim", "anthropic/sim"].map((model) => endOf(page, model));
    return Promise.all(
      ends.flatMap((end) => ["first", "cost"].map((fact) => end.locator(`[data-fact=${fact}]`).textContent())),
    );
  };
  const before = await figures();
  // The figures are part of the conversation, so no events are loaded for them.
  await page.route("**/api/runs/*/events*", (route) => route.abort());
  await page.reload();
  await expect(columns(page)).toHaveCount(3);
  expect(await order(page)).toEqual(models);
  expect(await figures()).toEqual(before);
});

test("a column of an unknown model keeps its place and error after a reload", async ({ page, faults }) => {
  faults.allow(REFUSED);
  const models = ["openai/sim", "sim-drip", "anthropic/sim"];
  await compare(page, ...models);
  await ask(page, "Hello.");
  for (const look of [async () => undefined, () => page.reload()]) {
    await look();
    await expect(columns(page)).toHaveCount(3);
    for (const model of ["openai/sim", "anthropic/sim"])
      await expect(endOf(page, model)).toHaveAttribute("data-status", "complete", { timeout: 30_000 });
    expect(await order(page)).toEqual(models);
    await expect(column(page, "sim-drip")).toContainText("There is no model called “sim-drip”.");
    await expect(column(page, "sim-drip").getByRole("button", { name: "Choose a model" })).toBeVisible();
    await expect(column(page, "sim-drip").getByRole("button", { name: /^Continue with/ })).toHaveCount(0);
  }
});

test("the next message continues from the first column, after a reload too", async ({ page }) => {
  const models = ["qwen/sim", "google/sim", "anthropic/sim"];
  await compare(page, ...models);
  await ask(page, "Hello.");
  await expect(columns(page).locator("[data-part=end]")).toHaveCount(3, { timeout: 30_000 });
  await expect(column(page, "qwen/sim")).toHaveAttribute("data-chosen", "true");
  await page.reload();
  await expect(columns(page)).toHaveCount(3);
  await expect(page.locator("[data-part=column][data-chosen=true]")).toHaveCount(1);
  await expect(column(page, "qwen/sim")).toHaveAttribute("data-chosen", "true");
});

test("columns and chips show the model and its maker, then the provider", async ({ page }) => {
  await compare(page, "openai/sim", "anthropic/sim");
  await expect(compared(page)).toContainText("Simulated· OpenAI");
  await expect(compared(page)).toContainText("Simulated· Anthropic");
  await ask(page, "Hello.");
  await expect(page.getByRole("heading", { name: "Simulated · OpenAI" })).toBeVisible();
  await expect(page.getByRole("heading", { name: "Simulated · Anthropic" })).toBeVisible();
});

test("four columns are one row that scrolls sideways, by buttons and by keyboard", async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await compare(page, ...FOUR);
  await ask(page, "Hello.");
  await expect(columns(page).locator("[data-part=end]")).toHaveCount(4, { timeout: 30_000 });
  const boxes = await columns(page).evaluateAll((all) => all.map((one) => one.getBoundingClientRect().toJSON()));
  expect(new Set(boxes.map(({ top }) => top)).size).toBe(1);
  for (const { width } of boxes) expect(width).toBeGreaterThanOrEqual(320);
  const row = page.getByRole("region", { name: "Answers side by side" });
  const at = () => row.evaluate((box) => box.scrollLeft);
  await expect(page.getByRole("button", { name: "Previous column" })).toHaveCount(0);
  await page.getByRole("button", { name: "Next column" }).click();
  await expect.poll(at).toBeGreaterThan(200);
  // The heads scroll along.
  await expect
    .poll(async () => {
      const head = await page.getByRole("heading", { name: /Google/ }).boundingBox();
      const below = await column(page, "google/sim").boundingBox();
      return head && below ? Math.abs(head.x - below.x) < 40 : false;
    })
    .toBe(true);
  await row.focus();
  for (let press = 0; press < 12; press++) await page.keyboard.press("ArrowLeft");
  await expect.poll(at).toBe(0);
  await page.setViewportSize({ width: 768, height: 800 });
  await expect(page.getByRole("button", { name: "Next column" })).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(768);
});

test("the page follows the longest column, unless the user has scrolled up", async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 700 });
  await compare(page, "google/sim", "openai/sim-long-20000");
  await ask(page, SEARCH);
  const chat = page.getByRole("main", { name: "Chat" });
  const gap = () => chat.evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight);
  const height = () => chat.evaluate((box) => box.scrollHeight);
  await expect(endOf(page, "google/sim")).toHaveAttribute("data-status", "complete", { timeout: 30_000 });
  await expect.poll(height, { timeout: 30_000 }).toBeGreaterThan(1600);
  await expect.poll(gap).toBeLessThan(96);
  // Columns do not scroll vertically.
  expect(
    await page
      .locator("[data-part=columns], [data-part=columns] *")
      .evaluateAll(
        (all) =>
          all.filter(
            (one) =>
              one.scrollHeight > one.clientHeight + 2 &&
              /auto|scroll/.test(getComputedStyle(one).overflowY) &&
              !one.closest("pre"),
          ).length,
      ),
  ).toBe(0);
  // Scrolling horizontally does not count as scrolling up.
  await chat.hover();
  await page.mouse.wheel(40, -4);
  const grown = await height();
  await expect.poll(height).toBeGreaterThan(grown);
  await expect.poll(gap).toBeLessThan(96);
  await page.mouse.wheel(0, -400);
  await expect.poll(gap).toBeGreaterThan(200);
  const top = await chat.evaluate((box) => box.scrollTop);
  const left = await height();
  await expect.poll(height).toBeGreaterThan(left + 100);
  expect(await chat.evaluate((box) => box.scrollTop)).toBe(top);
  await page.locator("[data-part=composer]").getByRole("button", { name: "Stop" }).click();
});

test("a phone has tabs with lamps, and the selected one stays during the answers", async ({ page }) => {
  await page.setViewportSize({ width: 375, height: 720 });
  await compare(page, "openai/sim-long-20000", "anthropic/sim");
  await ask(page, SEARCH);
  const tabs = page.getByRole("tablist", { name: "Answers side by side" }).getByRole("tab");
  await expect(tabs).toHaveCount(2);
  await expect(tabs.first()).toHaveAttribute("aria-selected", "true");
  await expect(tabs.first().locator("[data-lamp=running]")).toBeVisible();
  await tabs.first().focus();
  await page.keyboard.press("ArrowRight");
  await expect(tabs.last()).toHaveAttribute("aria-selected", "true");
  await expect(column(page, "anthropic/sim")).toBeVisible();
  await expect(column(page, "openai/sim-long-20000")).toHaveCount(0);
  await expect(tabs.last().locator("[data-lamp=done]")).toBeVisible({ timeout: 30_000 });
  await expect(tabs.first().locator("[data-lamp=running]")).toBeVisible();
  await expect(tabs.last()).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("Home");
  await expect(tabs.first()).toHaveAttribute("aria-selected", "true");
  await page.getByRole("button", { name: "Stop sim-long-20000 · OpenAI" }).click();
  await expect(endOf(page, "openai/sim-long-20000")).toHaveAttribute("data-status", "cancelled");
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(375);
});

test("ending a comparison leaves one model, and the choice survives a reload", async ({ page }) => {
  await compare(page, "openai/sim", "openai/gpt-4o", "google/sim");
  await page.reload();
  await expect(compared(page).locator("[data-part=compared-model]")).toHaveCount(3);
  for (let left = 3; left > 1; left--)
    await compared(page)
      .getByRole("button", { name: /^Remove/ })
      .first()
      .click();
  await expect(page.locator("[data-part=model]")).toHaveAttribute("title", "google/sim");
  await expect(message(page)).toBeVisible();
});

test("an answer in a column is continued where it stands, and stays there after a reload", async ({ page }) => {
  const models = ["openai/sim-length", "anthropic/sim"];
  await compare(page, ...models);
  await ask(page, "What is a run?");
  await expect(endOf(page, "openai/sim-length")).toHaveAttribute("data-status", "length", { timeout: 30_000 });
  await expect(endOf(page, "anthropic/sim")).toHaveAttribute("data-status", "complete", { timeout: 30_000 });
  const other = await column(page, "anthropic/sim").locator("[data-part=answer]").allTextContents();
  const cut = (await column(page, "openai/sim-length").locator("[data-part=answer]").textContent()) ?? "";
  const posted = page.waitForRequest("**/api/chat/stream");
  await column(page, "openai/sim-length").getByRole("button", { name: "Continue", exact: true }).click();
  const { model, column: place } = (await posted).postDataJSON();
  expect([model, place]).toEqual(["openai/sim-length", 0]);
  for (const look of [async () => undefined, () => page.reload()]) {
    await look();
    await expect(endOf(page, "openai/sim-length")).toHaveAttribute("data-status", "complete", { timeout: 30_000 });
    expect(await order(page)).toEqual(models);
    const whole = column(page, "openai/sim-length").locator("[data-part=answer]");
    await expect(whole).toHaveCount(1);
    expect(((await whole.textContent()) ?? "").length).toBeGreaterThan(cut.length);
    await expect(column(page, "openai/sim-length").getByRole("button", { name: "Continued once" })).toBeVisible();
    const answers = column(page, "anthropic/sim").locator("[data-part=answer]");
    await expect.poll(() => answers.allTextContents()).toEqual(other);
  }
});

test("the first column can be stopped before the question has an id, and the other one is still requested", async ({
  page,
  faults,
}) => {
  // The server does not know the conversation yet.
  faults.allow(REFUSED);
  await compare(page, "openai/sim", "anthropic/sim");
  // The first request never reaches the server.
  await page.route("**/api/chat/stream", (route) =>
    route.request().postDataJSON().model === "openai/sim" ? undefined : route.continue(),
  );
  await ask(page, "Hello.");
  await page.getByRole("button", { name: "Stop Simulated · OpenAI" }).click();
  await expect(endOf(page, "openai/sim")).toHaveAttribute("data-status", "cancelled");
  await expect(endOf(page, "anthropic/sim")).toHaveAttribute("data-status", "complete", { timeout: 30_000 });
  await expect(page.getByRole("button", { name: "Send" })).toBeVisible();
});

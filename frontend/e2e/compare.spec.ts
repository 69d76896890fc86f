// Compare: one question, two to four models side by side, each with its own stop, figures and way to go on.
import { ask, ended, expect, message, type Page, REFUSED, test } from "./support/page.ts";

const SEARCH = "What is a run? Search for it.";

const column = (page: Page, model: string) => page.getByRole("listitem", { name: model, exact: true });
const columns = (page: Page) => page.locator("[data-part=column]");
const endOf = (page: Page, model: string) => column(page, model).locator("[data-part=end]");
const compared = (page: Page) => page.getByRole("group", { name: "Compared models" });

/** Compare exactly these, in this order. */
async function compare(page: Page, ...models: string[]): Promise<void> {
  await page.goto("/");
  await page.getByRole("button", { name: "Compare models" }).click();
  await expect(compared(page).locator("[data-part=compared-model]")).toHaveCount(2);
  const chosen = compared(page).locator("[data-part=compared-model]");
  // Two of them are there at first, and of less than two no comparison is left: one comes before one goes.
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

test("two models answer one question, and the chosen one is gone on with", async ({ page }) => {
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
  await expect(column(page, "openai/sim")).toContainText("The next question follows this one.");
  await column(page, "openai/gpt-4o").getByRole("button", { name: "Go on with this" }).click();
  await expect(column(page, "openai/gpt-4o")).toHaveAttribute("data-chosen", "true");
  await expect(column(page, "openai/sim")).toHaveAttribute("data-chosen", "false");

  // Leave one, and the chat goes on with one model behind the chosen answer.
  const chosen = await column(page, "openai/gpt-4o").locator("[data-part=response]").getAttribute("data-run");
  await page.getByRole("button", { name: "Compare models" }).click();
  await expect(page.getByRole("button", { name: /^Model: / })).toBeVisible();
  await ask(page, "And what is a journal?");
  await ended(page);
  expect(bodies.at(-1)?.parent_id).toBe(chosen);

  // After a reload the alternatives are there, one at a time or side by side.
  await page.reload();
  await expect(page.getByRole("group", { name: "Versions of the answer" })).toContainText("2");
  await page.getByRole("button", { name: "Side by side (2)" }).click();
  await expect(columns(page)).toHaveCount(2);
  await expect(column(page, "openai/gpt-4o")).toHaveAttribute("data-chosen", "true");
  await page.getByRole("button", { name: "One at a time" }).click();
  await expect(columns(page)).toHaveCount(0);
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
  await page.getByRole("button", { name: "Stop openai/sim-long-20000" }).click();
  await expect(endOf(page, "openai/sim-long-20000")).toHaveAttribute("data-status", "cancelled");
  const other = column(page, "anthropic/sim-long-20000").locator("[data-part=answer]");
  const before = (await other.textContent())?.length ?? 0;
  await expect.poll(async () => (await other.textContent())?.length).toBeGreaterThan(before);
  for (const model of models.slice(2))
    await expect(endOf(page, model)).toHaveAttribute("data-status", "complete", { timeout: 20_000 });
  // The box stops what is left.
  await page.locator("[data-part=composer]").getByRole("button", { name: "Stop" }).click();
  await expect(endOf(page, "anthropic/sim-long-20000")).toHaveAttribute("data-status", "cancelled");
  await expect(page.getByRole("button", { name: "Send" })).toBeVisible();
});

test("one that fails leaves the other alone", async ({ page, faults }) => {
  faults.allow(REFUSED);
  await compare(page, "openai/sim-error-500", "openai/sim");
  await ask(page, SEARCH);
  await expect(endOf(page, "openai/sim")).toHaveAttribute("data-status", "complete", { timeout: 30_000 });
  await expect(endOf(page, "openai/sim-error-500")).toHaveAttribute("data-status", "error", { timeout: 30_000 });
  await expect(column(page, "openai/sim-error-500").getByRole("alert")).toBeVisible();
  await expect(column(page, "openai/sim").getByRole("alert")).toHaveCount(0);
  const posted = page.waitForRequest("**/api/chat/stream");
  await column(page, "openai/sim-error-500").getByRole("button", { name: "Retry" }).click();
  expect((await posted).postDataJSON().model).toBe("openai/sim-error-500");
});

test("a narrow window has the columns below each other", async ({ page }) => {
  await compare(page, "openai/sim", "openai/gpt-4o");
  await ask(page, "Hello.");
  await expect(columns(page).locator("[data-part=end]")).toHaveCount(2, { timeout: 30_000 });
  const places = async () => {
    const [first, second] = await Promise.all([columns(page).nth(0).boundingBox(), columns(page).nth(1).boundingBox()]);
    if (!first || !second) throw new Error("No columns");
    return { first, second };
  };
  const wide = await places();
  expect(wide.second.x).toBeGreaterThan(wide.first.x + wide.first.width - 1);
  await page.setViewportSize({ width: 375, height: 720 });
  await expect.poll(async () => (await places()).second.x).toBe((await places()).first.x);
  const { first, second } = await places();
  expect(second.y).toBeGreaterThanOrEqual(first.y + first.height);
  expect(first.x + first.width).toBeLessThanOrEqual(375);
});

test("to compare nothing leaves one model, and the choice outlives a reload", async ({ page }) => {
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

// The page in a real browser: against Signalbox with its simulator, or against the scripted stand-in.
import AxeBuilder from "@axe-core/playwright";
import { expect, type Page, test } from "@playwright/test";
import { openWire } from "./support/wire.ts";

const SEARCH = "How does Signalbox keep a stream alive when the connection drops? Search for the journal of a run.";

const faults: string[] = [];

test.beforeEach(async ({ page, baseURL }) => {
  faults.length = 0;
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => {
    if (/content security policy|unique "key"|hydrat/i.test(message.text())) faults.push(message.text());
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(baseURL ?? "") && new URL(request.url()).hostname !== "127.0.0.1")
      faults.push(`asked a third party: ${request.url()}`);
  });
  await page.goto("/");
});

test.afterEach(() => {
  expect(faults).toEqual([]);
});

const answer = (page: Page) => page.locator(".response").last();
const end = (page: Page) => answer(page).locator(".end");

async function useModel(page: Page, id: string) {
  await page.getByRole("combobox", { name: "Model" }).fill(id);
  await page.keyboard.press("Enter");
}

async function ask(page: Page, question: string) {
  await page.getByRole("textbox", { name: "Message" }).fill(question);
  await page.keyboard.press("Enter");
}

async function expectAccessible(page: Page) {
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`)).toEqual([]);
}

test("an empty page says what it is for, and that it is a simulation", async ({ page }) => {
  await expect(page.getByRole("heading", { name: /Ask something/ })).toBeVisible();
  await expect(page.locator(".header")).toContainText("simulated");
  await expect(page.locator(".example")).toHaveCount(3);
  await expect(page.getByRole("textbox", { name: "Message" })).toBeFocused();
  await expectAccessible(page);
});

for (const colorScheme of ["light", "dark"] as const) {
  test(`a question is thought about, searched and answered with sources (${colorScheme})`, async ({ page }) => {
    await page.emulateMedia({ colorScheme });
    await ask(page, SEARCH);
    await expect(page.getByRole("button", { name: "Stop" })).toBeVisible();
    await expect(
      answer(page)
        .getByText(/^Thought/)
        .first(),
    ).toBeVisible();
    await expect(
      answer(page)
        .getByText(/^Searched/)
        .first(),
    ).toBeVisible();
    await expect(answer(page).locator(".cite").first()).toHaveText(/^\[\d+\]$/);
    await expect(end(page)).toContainText(/tokens.*loop v2.*simulated/s);
    await expect(page.getByRole("status")).toHaveText("The answer is complete.");

    const search = answer(page)
      .getByRole("button", { name: /^Searched/ })
      .first();
    if ((await search.getAttribute("aria-expanded")) === "false") await search.click();
    const source = answer(page).locator(".source").first();
    await expect(source).toBeVisible();
    await expect(source).toHaveAttribute("rel", "noopener noreferrer");
    await expectAccessible(page);
  });
}

test("a second turn sends the first along", async ({ page }) => {
  await ask(page, SEARCH);
  await expect(end(page)).toContainText("tokens");
  const posted = page.waitForRequest("**/api/chat/stream");
  await ask(page, "And what is a run?");
  const body = (await posted).postDataJSON();
  expect(body.messages.map((message: { role: string }) => message.role)).toEqual(["user", "assistant", "user"]);
  await expect(page.locator(".end")).toHaveCount(2);
  await expect(page.getByRole("button", { name: "Retry" })).toHaveCount(1);
});

test("stop ends the run on the server and keeps what came", async ({ page }) => {
  await useModel(page, "openai/sim-long-3000");
  await ask(page, "Give me a long answer.");
  const text = answer(page).locator(".answer").last();
  await expect(text).toContainText(/\w+ \w+ \w+/);
  const stopped = page.waitForResponse(/\/api\/runs\/\w+\/stop$/);
  await page.getByRole("button", { name: "Stop" }).click();
  expect((await stopped).status()).toBe(200);
  await expect(end(page)).toContainText("Stopped");
  const kept = await text.textContent();
  expect(kept?.length).toBeGreaterThan(5);
  await expect(page.getByRole("button", { name: "Send" })).toBeVisible();
  await expect(text).toHaveText(kept ?? "");
});

test("an upstream error stands in a box of its own, and a retry with another model helps", async ({ page }) => {
  await useModel(page, "openai/sim-error-400");
  await ask(page, "Hello error");
  const box = page.getByRole("alert");
  await expect(box).toContainText("UPSTREAM_");
  await expect(end(page)).toContainText("Failed");
  await expectAccessible(page);
  await useModel(page, "openai/sim");
  const posted = page.waitForRequest("**/api/chat/stream");
  await box.getByRole("button", { name: "Retry" }).click();
  expect((await posted).postDataJSON().model).toBe("openai/sim");
  await expect(page.locator(".question")).toHaveCount(1);
});

test("a request that the server refuses says why", async ({ page }) => {
  await useModel(page, "nobody/knows-this");
  await ask(page, "Hello");
  await expect(page.getByRole("alert")).toContainText("UNKNOWN_MODEL");
});

test("a connection that drops in mid-answer is taken up again", async ({ page, baseURL }) => {
  const wire = await openWire(baseURL ?? "");
  await page.goto(wire.url);
  await useModel(page, "openai/sim-long-300");
  await ask(page, "A long answer, please.");
  await expect(answer(page).locator(".answer, .reasoning").last()).toContainText(/\w+ \w+ \w+/);
  const resumed = page.waitForRequest(/\/api\/runs\/\w+\/events$/);
  wire.cut();
  expect((await resumed).headers()["last-event-id"]).toMatch(/^\w+:\d+$/);
  await expect(end(page)).toContainText(/^[^·]*via.*loop v2/, { timeout: 40_000 });
  await expect(page.getByRole("alert")).toHaveCount(0);
  wire.close();
});

test("a reload in mid-answer shows the whole answer: no gap, nothing twice, and no run is stopped", async ({
  page,
}) => {
  const stops: string[] = [];
  page.on("request", (request) => request.url().endsWith("/stop") && stops.push(request.url()));
  await useModel(page, "openai/sim-long-200");
  await ask(page, "A long answer, please.");
  await expect(answer(page).locator(".answer, .reasoning").last()).toContainText(/\w+ \w+ \w+/);
  const runId = page.waitForRequest(/\/api\/runs\/\w+\/events$/);
  await page.reload();
  const path = new URL((await runId).url()).pathname;
  await expect(page.locator(".question")).toHaveText("A long answer, please.");
  await expect(end(page)).toContainText(/loop v2/, { timeout: 40_000 });
  const replay = await (await page.request.get(path)).text();
  const said = [...replay.matchAll(/^data: (.*)$/gm)]
    .map(([, data]) => JSON.parse(data ?? ""))
    .filter(({ type }) => type === "content");
  const letters = (text: string | null) => text?.replaceAll(/[^\p{L}\p{N}]/gu, "");
  const shown = (await answer(page).locator(".answer").allTextContents()).join("");
  expect(letters(shown)).toBe(letters(said.map(({ content }) => content).join("")));
  expect(stops).toEqual([]);

  await page.reload();
  expect(letters((await answer(page).locator(".answer").allTextContents()).join(""))).toBe(letters(shown));
  await page.getByRole("button", { name: "New chat" }).click();
  await page.reload();
  await expect(page.locator(".question")).toHaveCount(0);
});

test("a new chat stops the run of the one before", async ({ page }) => {
  await useModel(page, "openai/sim-long-3000");
  await ask(page, "Give me a long answer.");
  await expect(answer(page).locator(".answer, .reasoning").last()).toContainText(/\w+ \w+ \w+/);
  const stopped = page.waitForRequest(/\/api\/runs\/\w+\/stop$/);
  await page.getByRole("button", { name: "New chat" }).click();
  await stopped;
  await expect(page.getByRole("heading", { name: /Ask something/ })).toBeVisible();
});

test("no request of an answer that ends well is reported as failed", async ({ page }) => {
  const failed: string[] = [];
  page.on("requestfailed", (request) => failed.push(`${request.url()} ${request.failure()?.errorText}`));
  const over = page.waitForEvent("requestfinished", (request) => request.url().endsWith("/api/chat/stream"));
  await ask(page, "What time is it in Tokyo?");
  await expect(end(page)).toContainText("tokens");
  await over;
  expect(failed).toEqual([]);
});

test("hidden tools never show", async ({ page }) => {
  await ask(page, "What time is it in Tokyo?");
  await expect(end(page)).toContainText("tokens");
  await expect(answer(page).locator(".chip", { hasText: "get_current_time" })).toHaveCount(0);
});

test("a narrow page fits, and the keyboard reaches everything", async ({ page }) => {
  await page.setViewportSize({ width: 375, height: 720 });
  await page.getByRole("textbox", { name: "Message" }).focus();
  await page.keyboard.type("first line");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("second line");
  await page.keyboard.press("Enter");
  await expect(page.locator(".question")).toHaveText("first line\nsecond line");
  await expect(end(page)).toBeVisible();
  const wide = await page.evaluate(() =>
    [document.documentElement, document.querySelector(".chat")].map(
      (box) => (box?.scrollWidth ?? 0) - (box?.clientWidth ?? 0),
    ),
  );
  expect(wide).toEqual([0, 0]);
  await page.keyboard.press("Shift+Tab");
  await expect(page.getByRole("button", { name: "Retry" })).toBeFocused();
  await expectAccessible(page);
});

test("the model list is searched by typing and chosen by keyboard", async ({ page }) => {
  const picker = page.getByRole("combobox", { name: "Model" });
  await picker.fill("anthropic sim");
  await page.keyboard.press("ArrowDown");
  await expect(page.getByRole("option").first()).toHaveAttribute("data-active", "true");
  await expect(page.locator(".option-simulated")).toContainText("simulator answers under each of these names");
  const heights = await page.locator(".option").evaluateAll((rows) => rows.map((row) => row.clientHeight));
  expect(new Set(heights).size).toBe(1);
  await expectAccessible(page);
  await page.keyboard.press("Enter");
  await expect(picker).toHaveValue("anthropic/sim");
  await page.reload();
  await expect(picker).toHaveValue("anthropic/sim");
});

test("a list of models that comes late does not write into the field", async ({ page }) => {
  let answer: () => void = () => undefined;
  const late = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route("**/api/models", async (route) => {
    await late;
    await route.continue();
  });
  await page.reload();
  const picker = page.getByRole("combobox", { name: "Model" });
  await picker.focus();
  const came = page.waitForResponse("**/api/models");
  answer();
  await (await came).finished();
  await expect(page.locator(".option").first()).toBeVisible();
  await page.keyboard.type("openai/gpt-4o");
  await page.keyboard.press("Enter");
  await expect(picker).toHaveValue("openai/gpt-4o");
});

test("a server that wants a token gets it, for this tab", async ({ page }) => {
  await page.route("**/api/models", (route) =>
    route.request().headers().authorization === "Bearer open-sesame"
      ? route.continue()
      : route.fulfill({ status: 401, json: { error: { code: "UNAUTHORIZED", message: "A token is needed." } } }),
  );
  await page.reload();
  const dialog = page.getByRole("dialog");
  await expect(dialog).toBeVisible();
  await expectAccessible(page);
  await dialog.getByLabel("Access token").fill("open-sesame");
  await page.keyboard.press("Enter");
  await expect(dialog).toBeHidden();
  await page.getByRole("combobox", { name: "Model" }).click();
  await expect(page.getByRole("option").first()).toBeVisible();
});

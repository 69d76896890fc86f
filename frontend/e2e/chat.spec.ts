// The chat: a first visit, turns and versions, the queue, and stopping.
import {
  answer,
  answerWith,
  ask,
  askRun,
  end,
  ended,
  expect,
  expectAccessible,
  journal,
  message,
  type Page,
  response,
  said,
  shown,
  stops,
  test,
  useModel,
  waitForText,
} from "./support/page.ts";
import { openWire } from "./support/wire.ts";

const question = (page: Page) => page.locator("[data-part=question]");
const newChat = (page: Page) => page.getByRole("button", { name: "New chat" }).first();
const stop = (page: Page) => page.getByRole("button", { name: "Stop", exact: true });

test.beforeEach(async ({ page }) => {
  await page.goto("/");
});

test("a first visit explains the app, and its examples work", async ({ page }) => {
  const examples = page.locator("[data-part=empty]").getByRole("button");
  await expect(page.getByRole("heading", { name: "Signalbox" })).toBeVisible();
  await expect(page.locator("[data-part=empty]")).toContainText(
    "Chat with AI models and see how they find each answer.",
  );
  await expect(page.getByRole("navigation", { name: "Conversations" })).toContainText("Signalbox");
  await expect(page.getByRole("banner")).toContainText("simulated");
  await expect(message(page)).toBeFocused();
  await expect(examples).toHaveCount(4);
  await expectAccessible(page);

  await examples.filter({ hasText: "Table with sources" }).click();
  await ended(page);
  await expect(stops(page, "search")).toContainText(/Searched 2× · \d+ sources?/);
  await expect(response(page).getByRole("columnheader", { name: "Porto" })).toBeVisible();
  await expect(response(page).locator("td [data-part=cite]")).toHaveCount(2);
  await expect(end(page)).toContainText(/tokens.*simulated/s);
  await expect(page.locator("[role=status]", { hasText: "The answer is complete." })).toHaveCount(1);
  await expectAccessible(page);
  const source = await response(page).locator("td [data-part=cite]").first().getAttribute("href");

  await newChat(page).click();
  await examples.filter({ hasText: "Formula and calculator" }).click();
  await ended(page);
  await expect(response(page).locator(".katex-display")).toBeVisible();
  await expect(response(page)).toContainText("The calculator gives $1,319.59 a month.");
  await expectAccessible(page);

  await newChat(page).click();
  await examples.filter({ hasText: "Code" }).click();
  await ended(page);
  await expect(response(page).locator("pre span[style], pre span[class]").first()).toBeVisible();
  await expect(response(page).locator("pre")).toContainText("from pathlib import Path");
  await expect(response(page).locator("[data-part=answer] ol li", { hasText: "Run the script" })).toBeVisible();
  await expectAccessible(page);

  await newChat(page).click();
  await examples.filter({ hasText: "Clock and search" }).click();
  await ended(page);
  await expect(response(page)).toContainText(/In Tokyo it is \d\d:\d\d/);
  await expect(response(page).locator("[data-part=answer] ol li", { hasText: "local meal times" })).toBeVisible();
  await expect(response(page).locator("[data-part=answer] ol li [data-part=cite]").first()).toBeVisible();

  await page.goto(source ?? "");
  await expect(page.getByRole("heading", { name: "Lisbon for a weekend trip" })).toBeVisible();
});

for (const { shows, gives } of [
  { shows: "Table with sources", gives: "td [data-part=cite]" },
  { shows: "Formula and calculator", gives: ".katex-display" },
  { shows: "Code", gives: "pre" },
  { shows: "Clock and search", gives: "[data-part=answer] ol li [data-part=cite]" },
]) {
  test(`the example "${shows}" works with the legacy loop`, async ({ page }) => {
    test.skip(process.env.SIGNALBOX_URL !== undefined, "the server must allow requests to choose their loop");
    await page.route("**/api/chat/stream", (route) =>
      route.continue({ headers: { ...route.request().headers(), "x-tool-loop": "legacy" } }),
    );
    await page.locator("[data-part=empty]").getByRole("button").filter({ hasText: shows }).click();
    await ended(page);
    await expect(end(page).getByRole("button", { name: "Run details" })).toHaveAttribute("title", /^Loop legacy/);
    await expect(response(page).locator(gives).first()).toBeVisible();
  });
}

test("a second turn sends only the new message, with its parent", async ({ page }) => {
  const first = await askRun(page, "What time is it in Tokyo?");
  await ended(page);
  const posted = page.waitForRequest("**/api/chat/stream");
  await ask(page, "And in Lima?");
  const body = (await posted).postDataJSON();
  expect(body.messages).toEqual([{ role: "user", content: "And in Lima?" }]);
  expect(page.url()).toContain(`#c=${body.conversation_id}`);
  expect(body.parent_id).toBe(first);
  await expect(page.locator("[data-part=end]")).toHaveCount(2);
  // The server knows the previous turn: a place alone asks for the time there.
  await expect(answer(page).last()).toContainText("Lima");
});

test("an edited message is a second version, and both can be switched after a reload", async ({ page }) => {
  await ask(page, "What time is it in Tokyo?");
  await ended(page);
  const editing = page.getByRole("textbox", { name: "Edit message" });
  await question(page).hover();
  await question(page).getByRole("button", { name: "Edit" }).click();
  await expect(editing).toBeFocused();
  await editing.fill("What time is it in Lima?");
  const posted = page.waitForRequest("**/api/chat/stream");
  await page.keyboard.press("Control+Enter");
  expect((await posted).postDataJSON().parent_id ?? null).toBeNull();
  await expect(answer(page).last()).toContainText("Lima");
  await ended(page);

  const versions = page.getByRole("group", { name: "Versions of the message" });
  await expect(versions).toContainText(/2\D+2/);
  await versions.getByRole("button", { name: "Previous version" }).click();
  await expect(question(page)).toContainText("Tokyo");
  await expect(answer(page).last()).toContainText("Tokyo");
  await expect(versions.getByRole("button", { name: "Previous version" })).toBeDisabled();
  await page.reload();
  await expect(question(page)).toContainText("Tokyo");
  await expect(versions).toContainText(/1\D+2/);
  await versions.getByRole("button", { name: "Next version" }).click();
  await expect(answer(page).last()).toContainText("Lima");
});

test("an answer is regenerated, also by another model, and every version is kept", async ({ page }) => {
  await ask(page, "What time is it in Tokyo?");
  await ended(page);
  await end(page).getByRole("button", { name: "Regenerate" }).click();
  const versions = page.getByRole("group", { name: "Versions of the answer" });
  await expect(versions).toContainText(/2\D+2/);
  await ended(page);

  await end(page).getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name: "Regenerate with another model" }).click();
  await answerWith(page, "anthropic/sim");
  await page.getByRole("dialog").getByRole("button", { name: "Regenerate" }).click();
  await expect(versions).toContainText(/3\D+3/);
  await ended(page);
  await expect(end(page)).toContainText("anthropic/sim");
  await expect(question(page)).toHaveCount(1);
  // Regenerating with another model does not change the model of the next answer.
  await expect(page.getByRole("button", { name: /^Model: / })).not.toHaveAttribute("title", "anthropic/sim");
  await versions.getByRole("button", { name: "Previous version" }).click();
  await expect(end(page)).not.toContainText("anthropic/sim");
});

test("a new chat does not stop the previous run, which is marked as running in the sidebar", async ({ page }) => {
  const stopped: string[] = [];
  page.on("request", (request) => request.url().endsWith("/stop") && stopped.push(request.url()));
  await useModel(page, "openai/sim-long-400");
  const runId = await askRun(page, "A long answer, please.");
  await waitForText(page);
  const address = new URL(page.url()).hash;
  await newChat(page).click();
  await expect(page.locator("[data-part=empty]")).toBeVisible();
  const line = page.locator("[data-part=line]", { has: page.locator(`a[href="${address}"]`) });
  await expect(line).toContainText("running");
  await expect(line).not.toContainText("running", { timeout: 30_000 });
  await line.getByRole("link").click();
  await ended(page);
  expect(await shown(page)).toBe(await said(page, runId));
  expect(stopped).toEqual([]);
});

test("messages during an answer are queued, edited, deleted, and sent when it is complete", async ({
  page,
  baseURL,
}) => {
  const wire = await openWire(baseURL ?? "");
  await page.goto(wire.url);
  const queue = page.getByRole("region", { name: "Queued messages" });
  const line = (words: string) => queue.getByRole("listitem").filter({ hasText: words });
  const asked: string[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/api/chat/stream")) asked.push(request.postDataJSON().messages[0].content);
  });
  await useModel(page, "openai/sim-long-20");
  const over = wire.holdBefore('"type":"done"');
  await ask(page, "A long answer, please.");
  await over;
  await useModel(page, "openai/sim");
  for (const words of ["What time is it in Tokyo?", "Second", "Third"]) await ask(page, words);
  await expect(queue.getByRole("listitem")).toHaveCount(3);
  await line("Third").getByRole("button", { name: "Delete" }).click();
  await line("Second").getByRole("button", { name: "Edit" }).click();
  await expect(message(page)).toHaveValue("Second");
  await expect(message(page)).toBeFocused();
  await message(page).fill("What time is it in Lima?");
  await page.keyboard.press("Enter");
  await expect(queue.getByRole("listitem")).toHaveCount(2);
  await expect(question(page)).toHaveCount(1);

  void wire.release();
  await expect(question(page).last()).toContainText("Lima", { timeout: 30_000 });
  await expect(queue).toHaveCount(0);
  await expect(answer(page).last()).toContainText("Lima");
  await ended(page);
  expect(asked).toEqual(["A long answer, please.", "What time is it in Tokyo?", "What time is it in Lima?"]);
  wire.close();
});

test("after a stop the queue waits for the user; Send now sends at once", async ({ page }) => {
  const queue = page.getByRole("region", { name: "Queued messages" });
  await useModel(page, "openai/sim-long-3000");
  await ask(page, "A long answer, please.");
  await waitForText(page);
  await ask(page, "What time is it in Tokyo?");
  await stop(page).click();
  await ended(page, "cancelled");
  await expect(queue).toContainText("Not sent yet");
  await expect(question(page)).toHaveCount(1);
  await queue.getByRole("button", { name: "Send now" }).click();
  await expect(question(page).last()).toContainText("Tokyo");
  await waitForText(page);

  // "Send now" stops a running answer.
  await useModel(page, "openai/sim");
  await ask(page, "What time is it in Lima?");
  await queue.getByRole("button", { name: "Send now" }).click();
  await expect(question(page).last()).toContainText("Lima");
  await expect(answer(page).last()).toContainText("Lima");
  await ended(page);
});

test("stop cancels the run on the server, keeps the text, and frees the message box", async ({ page }) => {
  await useModel(page, "openai/sim-long-3000");
  const runId = await askRun(page, "A long answer, please.");
  await waitForText(page);
  const told = page.waitForResponse(/\/api\/runs\/\w+\/stop$/);
  await stop(page).click();
  expect((await told).status()).toBe(200);
  await ended(page, "cancelled");
  await expect(end(page)).toContainText("Stopped");
  expect(await shown(page)).toBe(await said(page, runId));
  expect((await journal(page, runId)).at(-1)).toMatchObject({ type: "done", status: "cancelled" });
  await expect(message(page)).toBeFocused();
  await expect(response(page).locator("[data-part=error]")).toHaveCount(0);

  // Escape stops an answer before it has a run id.
  const other = page.waitForResponse(/\/api\/runs\/\w+\/stop$/);
  const posted = page.waitForResponse("**/api/chat/stream");
  await message(page).fill("Another long answer, please.");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  expect((await other).url()).toContain((await posted).headers()["x-run-id"] ?? "none");
  await ended(page, "cancelled");
  await expect(stop(page)).toHaveCount(0);
});

test("a call that is running at a stop is marked as stopped", async ({ page, baseURL }) => {
  const wire = await openWire(baseURL ?? "");
  await page.goto(wire.url);
  await useModel(page, "openai/sim-searches-8");
  const held = wire.holdBefore('"type":"tool_result"');
  await ask(page, "What is a run?");
  await held;
  await expect(stops(page, "search")).toHaveAttribute("data-lamp", "running");
  await stop(page).click();
  await ended(page, "cancelled");
  await expect(stops(page, "search")).toHaveAttribute("data-lamp", "waiting");
  await expect(stops(page, "search").getByRole("button").first()).toContainText("stopped");
  await expect(stops(page, "pending")).toHaveCount(0);
  wire.close();
});

test("no request of a complete answer is logged as failed", async ({ page }) => {
  const failed: string[] = [];
  page.on("requestfailed", (request) => {
    if (/\/api\/(chat|runs)\//.test(request.url())) failed.push(`${request.url()} ${request.failure()?.errorText}`);
  });
  const over = page.waitForEvent("requestfinished", (request) => request.url().endsWith("/api/chat/stream"));
  await ask(page, "What time is it in Tokyo?");
  await ended(page);
  await over;
  expect(failed).toEqual([]);
});

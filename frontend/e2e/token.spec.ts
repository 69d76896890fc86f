// A server that requires a token: the page asks for it once and stores it as the user chooses.
import { ADMIN_TOKEN, ask, ended, expect, expectAccessible, type Page, REFUSED, test } from "./support/page.ts";
import { type OwnServer, ownServer } from "./support/server.ts";

const TOKEN = "a-token-in-a-test";
const KEY = "signalbox.token";

let server: OwnServer;

test.beforeAll(async () => {
  server = await ownServer({ SIGNALBOX_ACCESS_TOKEN: TOKEN, SIGNALBOX_ADMIN_TOKEN: ADMIN_TOKEN });
  await server.start();
});
test.afterAll(() => server.kill());
test.beforeEach(({ faults }) => faults.allow(REFUSED));

const gate = (page: Page) => page.getByRole("dialog", { name: "Enter your access token" });
const field = (page: Page) => gate(page).getByLabel("Access token", { exact: true });
const models = (page: Page) => page.getByRole("button", { name: /^Model: .*sim/i });

async function enter(page: Page, token: string): Promise<void> {
  await field(page).fill(token);
  await gate(page).getByRole("button", { name: "Continue" }).click();
}

const inStores = (page: Page): Promise<(string | null)[]> =>
  page.evaluate((key) => [sessionStorage.getItem(key), localStorage.getItem(key)], KEY);

test("explains the token and where to get it, and rejects a wrong one in place", async ({ page }) => {
  await page.goto(server.url);
  await expect(gate(page)).toContainText("The person who runs it can give you a token");
  await expectAccessible(page);
  await enter(page, "not-the-token");
  await expect(gate(page).getByRole("alert")).toContainText("The server does not accept this token.");
  expect(await inStores(page)).toEqual([null, null]);
  await expectAccessible(page);
  await enter(page, TOKEN);
  await expect(models(page)).toBeVisible();
  await expect(gate(page)).toHaveCount(0);
});

test("is not asked for while the operator token opens a run", async ({ page, request }) => {
  const headers = { authorization: `Bearer ${TOKEN}` };
  const run = await request.post(`${server.url}/api/chat`, {
    headers,
    data: { model: "openai/sim", prompt: "What is a run?" },
  });
  const runId = run.headers()["x-run-id"];
  await page.goto(`${server.url}/operator#runs`);
  const operator = page.getByRole("dialog", { name: "This needs the operator token." });
  await operator.getByLabel("Operator token").fill(ADMIN_TOKEN);
  await operator.getByRole("button", { name: "Continue" }).click();
  await page.locator(`[data-part=run] a[href="/#run=${runId}"]`).click();
  await ended(page);
  await expect(gate(page)).toHaveCount(0);
});

test("is asked for in one tab only, and forgotten with the last one", async ({ page, context }) => {
  const addresses: string[] = [];
  context.on("request", (request) => addresses.push(request.url()));
  await page.goto(server.url);
  await expect(gate(page)).toBeVisible();
  const waiting = await context.newPage();
  await waiting.goto(server.url);
  await expect(gate(waiting)).toBeVisible();

  await page.bringToFront();
  await enter(page, TOKEN);
  await expect(models(page)).toBeVisible();
  await expect(models(waiting)).toBeVisible();
  const fresh = await context.newPage();
  await fresh.goto(server.url);
  await expect(models(fresh)).toBeVisible();
  await expect(gate(fresh)).toHaveCount(0);
  for (const tab of [page, waiting, fresh]) expect(await inStores(tab)).toEqual([TOKEN, null]);
  expect(addresses.filter((address) => address.includes(TOKEN))).toEqual([]);

  for (const tab of [page, waiting, fresh]) await tab.close();
  const later = await context.newPage();
  await later.goto(server.url);
  await expect(gate(later)).toBeVisible();
});

test("is remembered on request, until it is removed in the settings", async ({ page, context }) => {
  await page.goto(server.url);
  await gate(page).getByRole("checkbox", { name: "Remember on this browser" }).check();
  await enter(page, TOKEN);
  await expect(models(page)).toBeVisible();
  expect(await inStores(page)).toEqual([null, TOKEN]);
  await page.close();

  const later = await context.newPage();
  await later.goto(server.url);
  await expect(models(later)).toBeVisible();
  const other = await context.newPage();
  await other.goto(server.url);
  await expect(models(other)).toBeVisible();

  await later.bringToFront();
  await later.getByRole("button", { name: /^Settings/ }).click();
  const section = later.getByRole("region", { name: "Access token" });
  await expect(section).toContainText("Remembered on this browser.");
  await expectAccessible(later);
  await section.getByRole("button", { name: "Forget token" }).click();
  await expect(gate(later)).toBeVisible();
  await expect(gate(other)).toBeVisible();
  expect(await inStores(later)).toEqual([null, null]);
});

/** All further messages: text, model, and response status. */
function posts(page: Page): { text: string; model: string; status: number }[] {
  const all: ReturnType<typeof posts> = [];
  page.on("response", (response) => {
    if (!response.url().endsWith("/api/chat/stream")) return;
    const { messages, model } = response.request().postDataJSON();
    all.push({ text: messages?.[0]?.content, model, status: response.status() });
  });
  return all;
}

/** Replace the stored token of this tab by an invalid one. */
const expire = (page: Page) => page.evaluate((key) => sessionStorage.setItem(key, "an-expired-token"), KEY);

test("a rejected message is sent once automatically when the token is entered", async ({ page }) => {
  await page.goto(server.url);
  await enter(page, TOKEN);
  await expect(models(page)).toBeVisible();
  const all = posts(page);
  await expire(page);
  await ask(page, "Who are you?");
  await expect(gate(page)).toBeVisible();
  await enter(page, "still-not-the-token");
  await expect(gate(page).getByRole("alert")).toBeVisible();
  await enter(page, TOKEN);
  await ended(page);
  await expect(page.locator("[data-part=question]")).toContainText("Who are you?");
  await page.reload();
  await ended(page);
  await expect(page.locator("[data-part=question]")).toHaveCount(1);
  expect(all.map(({ text, status }) => [text, status])).toEqual([
    ["Who are you?", 401],
    ["Who are you?", 200],
  ]);
});

test("a rejected comparison ends as a whole, and is sent as a whole when the token is entered", async ({ page }) => {
  await page.goto(server.url);
  await enter(page, TOKEN);
  await expect(models(page)).toBeVisible();
  await page.getByRole("button", { name: "Compare models" }).click();
  await expect(page.locator("[data-part=compared-model]")).toHaveCount(2);
  const all = posts(page);
  await expire(page);
  await ask(page, "Who are you?");
  await expect(gate(page)).toBeVisible();
  await page.keyboard.press("Escape");
  const columns = page.locator("[data-part=column]");
  await expect(columns.locator("[data-part=error][data-code=UNAUTHORIZED]")).toHaveCount(2);
  // A message that is sent now waits for the token too.
  await ask(page, "And what can you do?");
  const queue = page.getByRole("region", { name: "Queued messages" });
  await expect(queue).toContainText("Enter the access token to send your message.");
  await expectAccessible(page);
  await queue.getByRole("button", { name: "Enter token" }).click();
  await enter(page, TOKEN);
  await expect(page.locator("[data-part=question]")).toHaveCount(2, { timeout: 30_000 });
  await expect(columns.locator("[data-part=end][data-status=complete]")).toHaveCount(4, { timeout: 30_000 });
  const asked = all.map(({ text, status }) => [text, status]);
  expect(asked).toEqual([
    ["Who are you?", 401],
    ["Who are you?", 200],
    [undefined, 200],
    ["And what can you do?", 200],
    [undefined, 200],
  ]);
});

// The other pages: the guide, the API reference and the operator page.
import { execFileSync } from "node:child_process";
import {
  ADMIN_TOKEN,
  askRun,
  DATA,
  ended,
  expect,
  expectAccessible,
  type Page,
  REFUSED,
  test,
  useModel,
} from "./support/page.ts";

/** The tooltip names the loop. */
const detailsButton = (page: Page) => page.locator("[data-part=end]").getByRole("button", { name: "Run details" });

for (const colorScheme of ["light", "dark"] as const) {
  test(`the guide is read, from page to page and back to the chat (${colorScheme})`, async ({ page }) => {
    await page.emulateMedia({ colorScheme });
    await page.goto("/guide/");
    await expect(page).toHaveTitle("Documentation · Signalbox");
    await expect(page.getByRole("table").first()).toBeVisible();
    await expectAccessible(page);
    await page.getByRole("link", { name: "decisions/" }).click();
    await expect(page.getByRole("heading", { level: 1, name: "Decisions" })).toBeVisible();
    await page.getByRole("link", { name: "0001" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await page.getByRole("link", { name: "Chat" }).click();
    await expect(page.getByRole("textbox", { name: "Message" })).toBeVisible();
  });
}

test("an address with an anchor opens that section", async ({ page }) => {
  await page.goto("/guide/api.md#listing-runs");
  const heading = page.locator("#listing-runs");
  await expect(heading).toBeInViewport();
  await expect(heading).toHaveText("Listing runs");
  expect(await heading.evaluate((box) => box.matches(":target") && box.getBoundingClientRect().top < 200)).toBe(true);
});

test("every anchor that the guide links to exists", async ({ page }) => {
  for (const name of ["README.md", "api.md", "testing.md", "tool-loop.md"]) {
    await page.goto(`/guide/${name}`);
    await expect(page.locator(".document h1")).toBeVisible();
    const links = await page
      .locator(".document a[href*='#']")
      .evaluateAll((all) => all.map((a) => (a as HTMLAnchorElement).href));
    for (const link of new Set(links)) {
      await page.goto(link);
      await expect(page.locator(`[id="${new URL(link).hash.slice(1)}"]`)).toBeVisible();
    }
  }
});

test("a program gets text from the same address", async ({ request }) => {
  const response = await request.get("/guide/api.md", { headers: { accept: "*/*" } });
  expect(response.headers()["content-type"]).toContain("text/markdown");
  expect(response.headers().vary).toMatch(/accept/i);
  expect(await response.text()).toMatch(/^# /);
  expect((await request.get("/favicon.ico")).status()).toBe(200);
});

test("the API reference is complete", async ({ page }) => {
  await page.goto("/docs");
  const operation = page.getByRole("region", { name: "POST /api/chat/stream" });
  await expect(operation.locator("pre").first()).toContainText("curl -N");
  await expectAccessible(page);
  await operation.getByRole("link", { name: "ChatRequest" }).click();
  await expect(page.locator("#schema-ChatRequest")).toBeInViewport();
});

test.describe("the operator", () => {
  const loopForm = (page: Page) => page.getByRole("form", { name: "TOOL_LOOP_V2" });
  const loopStatus = (page: Page) => loopForm(page).getByRole("status");

  async function applySetting(page: Page, position: string): Promise<void> {
    await loopForm(page).getByText(position, { exact: true }).click();
    await loopForm(page).getByRole("button", { name: "Apply" }).click();
  }

  // Restore the flag, even if the test fails.
  test.afterEach(async ({ request }) => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    await request.put("/api/flags/tool_loop_v2", { headers, data: { state: "on" } });
  });

  test("changes the flag, and sees the runs of each loop with their endings", async ({ page, context, faults }) => {
    faults.allow(REFUSED);
    await page.goto("/operator");
    await expect(loopStatus(page)).toContainText("loop");
    await expectAccessible(page);

    await loopForm(page).getByText("Percent", { exact: true }).click();
    await loopForm(page).getByRole("slider").fill("30");
    await expect(loopForm(page)).toContainText("About 30% of conversations");
    await loopForm(page).getByRole("button", { name: "Apply" }).click();
    const dialog = page.getByRole("dialog");
    await expect(dialog).toContainText("operator token");
    await dialog.getByLabel("Operator token").fill("wrong");
    const refused = page.waitForResponse("**/api/flags/tool_loop_v2");
    await page.keyboard.press("Enter");
    expect((await refused).status()).toBe(401);
    await expect(dialog.getByRole("alert")).toContainText("does not accept");
    await expectAccessible(page);
    await dialog.getByLabel("Operator token").fill(ADMIN_TOKEN);
    await page.keyboard.press("Enter");
    await expect(dialog).toBeHidden();
    await expect(loopStatus(page)).toContainText(/30 ?%/);

    await applySetting(page, "Off");
    await expect(loopStatus(page)).toContainText("legacy");
    const chat = await context.newPage();
    await chat.goto("/");
    const old = await askRun(chat, "What time is it in Tokyo?");
    await ended(chat);
    await expect(detailsButton(chat)).toHaveAttribute("title", /^Loop legacy/);

    await page.bringToFront();
    await applySetting(page, "On");
    await expect(loopStatus(page)).toContainText("Every run uses the V2 loop");
    await expect(loopForm(page).getByRole("button", { name: "Current setting" })).toBeDisabled();
    await chat.bringToFront();
    await chat.getByRole("button", { name: "New chat" }).first().click();
    await useModel(chat, "openai/sim-midstream-error");
    const failed = await askRun(chat, "What is a run?");
    await ended(chat, "error");
    await expect(detailsButton(chat)).toHaveAttribute("title", /^Loop v2/);
    await useModel(chat, "openai/sim-length");
    const cut = await askRun(chat, "What is a journal?");
    await ended(chat, "length");
    await detailsButton(chat).last().click();
    const details = chat.locator("[data-part=inspector]");
    await expect(details.locator("[data-part=standing]")).toContainText("Length limit reached");
    await expect(details.locator("[data-part=standing] [data-lamp=cut]")).toHaveCount(1);
    await expect(details.locator("[data-part=trouble]")).toContainText("The answer reached its length limit.");

    await page.bringToFront();
    await page.getByRole("link", { name: "Runs" }).click();
    await page.reload();
    const row = (id: string) => page.locator("[data-part=run]", { has: page.locator(`a[href$="${id}"]`) });
    await expect(row(old)).toContainText("legacy");
    await expect(row(old)).toContainText("Complete");
    await expect(row(failed)).toContainText("v2");
    await expect(row(failed)).toContainText("UPSTREAM_OVERLOADED");
    await expect(row(failed).locator("[data-lamp=failed]")).toHaveCount(1);
    await expect(row(cut)).toContainText("Length limit reached");
    await expect(row(cut).locator("[data-lamp=cut]")).toHaveCount(1);
    for (const loop of ["legacy", "v2"]) {
      await expect(page.getByRole("region", { name: `Loop ${loop}` })).toContainText(/\d+%\s*completed/);
    }
    await expectAccessible(page);
    await row(old).getByRole("link").click();
    await ended(page);
    await expect(detailsButton(page)).toHaveAttribute("title", /^Loop legacy/);
  });

  test("sees all users' runs with the token, and opens one of them", async ({ page, request }) => {
    test.skip(process.env.SIGNALBOX_URL !== undefined, "the token is made beside the server that these tests start");
    const env = { ...process.env, SIGNALBOX_DATA_DIR: DATA };
    const told = execFileSync("signalbox", ["token", "create", "Ada Lovelace", "--days", "1"], {
      env,
      encoding: "utf8",
    });
    const headers = { authorization: `Bearer ${/sb-\S+/.exec(told)?.[0]}` };
    const data = { model: "openai/sim", prompt: "What is 17 * 23?", tools: ["calculate"] };
    const answer = await request.post("/api/chat/stream", { headers, data });
    const id = answer.headers()["x-run-id"];
    const row = page.locator("[data-part=run]", { has: page.locator(`a[href$="${id}"]`) });

    await page.goto("/operator#runs");
    await expect(page.getByText("those without an API token")).toBeVisible();
    await expect(row).toHaveCount(0);
    await page.getByRole("button", { name: "Show all users' runs" }).click();
    const field = page.getByRole("textbox", { name: "Operator token" });
    await field.fill("wrong");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("dialog").getByRole("alert")).toContainText("does not accept");
    await field.fill(ADMIN_TOKEN);
    await page.keyboard.press("Enter");
    await expect(row).toContainText("Ada Lovelace");
    await expectAccessible(page);
    await row.getByRole("link").click();
    await ended(page);
    await expect(page.locator("[data-part=answer]")).toContainText("391");
    await page.getByRole("button", { name: "Run details" }).first().click();
    await expect(page.getByRole("complementary", { name: "Run details" })).toContainText("Calculator");
  });

  test("cannot change a flag that the environment overrides", async ({ page }) => {
    await page.route("**/api/flags/tool_loop_v2", (route) =>
      route.fulfill({
        json: {
          key: "tool_loop_v2",
          state: "on",
          percent: null,
          environment: false,
          effective: "Every run uses the legacy loop.",
          sticky: "conversation",
        },
      }),
    );
    await page.goto("/operator");
    await expect(loopForm(page)).toContainText("overrides this setting");
    await expect(loopForm(page).getByRole("radio", { name: /On/ })).toBeDisabled();
    await expect(loopForm(page).getByRole("button")).toHaveCount(0);
    await expectAccessible(page);
  });
});

// The pages beside the chat: the guide, the API reference and the operator's lever.
import AxeBuilder from "@axe-core/playwright";
import { expect, type Page, test } from "@playwright/test";

const faults: string[] = [];

test.beforeEach(async ({ page, baseURL }) => {
  faults.length = 0;
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => {
    if (/content security policy|unique "key"|hydrat/i.test(message.text())) faults.push(message.text());
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(baseURL ?? "")) faults.push(`asked a third party: ${request.url()}`);
  });
});

test.afterEach(() => {
  expect(faults).toEqual([]);
});

async function expectAccessible(page: Page) {
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`)).toEqual([]);
}

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

test("an address with an anchor shows that section", async ({ page }) => {
  await page.goto("/guide/api.md#how-do-i-list-runs");
  const heading = page.locator("#how-do-i-list-runs");
  await expect(heading).toBeInViewport();
  await expect(heading).toHaveText("How do I list runs");
  expect(await heading.evaluate((box) => box.matches(":target") && box.getBoundingClientRect().top < 200)).toBe(true);
});

test("every anchor that the guide links to is there", async ({ page }) => {
  for (const name of ["README.md", "api.md", "testing.md", "tool-loop.md"]) {
    await page.goto(`/guide/${name}`);
    await expect(page.locator(".document h1")).toBeVisible();
    const links = await page
      .locator(".document a[href*='#']")
      .evaluateAll((all) => all.map((a) => (a as HTMLAnchorElement).href));
    for (const link of links) {
      await page.goto(link);
      await expect(page.locator(`[id="${new URL(link).hash.slice(1)}"]`)).toBeVisible();
    }
  }
});

test("a program gets the text of the same address", async ({ request }) => {
  const response = await request.get("/guide/api.md", { headers: { accept: "*/*" } });
  expect(response.headers()["content-type"]).toContain("text/markdown");
  expect(response.headers().vary).toMatch(/accept/i);
  expect(await response.text()).toMatch(/^# /);
});

test("the API reference is ours and whole", async ({ page }) => {
  await page.goto("/docs");
  const operation = page.getByRole("region", { name: "POST /api/chat/stream" });
  await expect(operation.locator("pre").first()).toContainText("curl -N");
  await expectAccessible(page);
  await operation.getByRole("link", { name: "ChatRequest" }).click();
  await expect(page.locator("#schema-ChatRequest")).toBeInViewport();
});

test("the browser finds an icon", async ({ request }) => {
  expect((await request.get("/favicon.ico")).status()).toBe(200);
});

test("the operator pulls the lever", async ({ page }) => {
  const token = process.env.SIGNALBOX_ADMIN_TOKEN ?? (process.env.SIGNALBOX_URL ? undefined : "admin");
  test.skip(token === undefined, "the operator's token of that server is not known here");
  await page.goto("/operator");
  const lever = page.getByRole("form", { name: "TOOL_LOOP_V2" });
  await expect(lever.getByRole("status")).toContainText("loop");
  await expectAccessible(page);
  await lever.getByText("Percent").click();
  await lever.getByRole("slider").fill("30");
  await expect(lever).toContainText("About 30 of 100 conversations");
  await lever.getByRole("button", { name: "Pull the lever" }).click();

  const dialog = page.getByRole("dialog");
  await expect(dialog).toContainText("operator's token");
  await dialog.locator("input").fill("wrong");
  const refused = page.waitForResponse("**/api/flags/tool_loop_v2");
  await page.keyboard.press("Enter");
  expect((await refused).status()).toBe(401);
  await expect(dialog.locator("input")).toHaveValue("");
  await dialog.locator("input").fill(token ?? "");
  await page.keyboard.press("Enter");
  await expect(dialog).toBeHidden();
  await expect(lever.getByRole("status")).toContainText("30 %");

  await lever.getByText("On", { exact: true }).click();
  await lever.getByRole("button", { name: "Pull the lever" }).click();
  await expect(lever.getByRole("status")).toContainText("Every run uses the V2 loop");
  await expect(lever.getByRole("button", { name: "It stands here" })).toBeDisabled();
  await expect(page.getByRole("heading", { name: "Loop legacy" })).toBeVisible();
});

test("a lever that the environment overrides cannot be pulled", async ({ page }) => {
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
  const lever = page.getByRole("form", { name: "TOOL_LOOP_V2" });
  await expect(lever).toContainText("no lever overrides it");
  await expect(lever.getByRole("radio", { name: /On/ })).toBeDisabled();
  await expect(lever.getByRole("button")).toHaveCount(0);
  await expectAccessible(page);
});

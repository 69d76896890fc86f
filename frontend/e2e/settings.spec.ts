// Settings: set values are sent and survive a reload.
import { ask, choose, ended, expect, type Page, response, stops, test, useModel } from "./support/page.ts";

const SEARCH = "What is a run? Search for it.";

test.use({ viewport: { width: 1280, height: 800 } });
test.beforeEach(({ page }) => page.goto("/"));

const panel = (page: Page) => page.locator("[data-part=settings]");
const open = (page: Page) => page.getByRole("button", { name: /^Settings/ }).click();

async function close(page: Page): Promise<void> {
  await page.keyboard.press("Escape");
  await expect(panel(page)).toHaveCount(0);
}

/** Send a message and return the request body. */
async function sent(page: Page, question = "Hello."): Promise<Record<string, unknown>> {
  const posted = page.waitForRequest("**/api/chat/stream");
  await ask(page, question);
  const body = (await posted).postDataJSON();
  await ended(page);
  return body;
}

test("without changes, a message carries no settings", async ({ page }) => {
  const body = await sent(page);
  expect(body.model).toBe("openai/sim");
  for (const name of ["temperature", "top_p", "max_tokens", "seed", "reasoning", "system"])
    expect(body).not.toHaveProperty(name);
});

test("the chosen effort is sent, and survives a reload", async ({ page }) => {
  await choose(page, "Reasoning effort", "High");
  expect((await sent(page)).reasoning).toEqual({ effort: "high" });
  await page.reload();
  await expect(page.getByRole("button", { name: "Settings, 1 changed" })).toBeVisible();
  await choose(page, "Reasoning effort", "None");
  expect((await sent(page)).reasoning).toEqual({ effort: "none" });
  await expect(stops(page, "reasoning")).toHaveCount(0);
  await choose(page, "Reasoning effort", "Auto");
  expect(await sent(page)).not.toHaveProperty("reasoning");
});

test("a tool that is switched off is not offered", async ({ page }) => {
  await open(page);
  await panel(page).getByRole("switch", { name: "Web search" }).click();
  await close(page);
  const body = await sent(page, SEARCH);
  expect(body.tools).toContain("calculate");
  expect(body.tools).not.toContain("search_web");
  await expect(stops(page, "search")).toHaveCount(0);
  await open(page);
  await panel(page).getByRole("switch", { name: "Web search" }).click();
  await close(page);
  await sent(page, SEARCH);
  await expect(stops(page, "search").first()).toBeVisible();
});

test("an unavailable tool has its reason, and so does a model without tools", async ({ page }) => {
  await page.route("**/api/tools", async (route) => {
    const answered = await route.fetch();
    const json = await answered.json();
    Object.assign(json.tools[1], { available: false, unavailable: "It needs a key, and none is set." });
    await route.fulfill({ response: answered, json });
  });
  await page.route("**/api/models*", async (route) => {
    const answered = await route.fetch();
    const json = await answered.json();
    const { supported_parameters: taken } = json.models.find(({ id }: { id: string }) => id === "openai/gpt-4o");
    taken.splice(taken.indexOf("tools"), 1);
    await route.fulfill({ response: answered, json });
  });
  await page.reload();
  await open(page);
  const tool = panel(page).locator("[data-part=tool]").nth(1);
  await expect(tool).toContainText("It needs a key, and none is set.");
  await expect(tool.getByRole("switch")).toBeDisabled();
  await close(page);
  await useModel(page, "openai/gpt-4o");
  await open(page);
  await expect(panel(page)).toContainText("This model cannot use tools.");
  for (const each of await panel(page).getByRole("switch").all()) await expect(each).toBeDisabled();
});

test("only parameters that are set and supported are sent", async ({ page }) => {
  await open(page);
  await panel(page).getByRole("textbox", { name: "Temperature" }).fill("0.3");
  await panel(page).getByRole("textbox", { name: "Maximum answer length" }).fill("700");
  await close(page);
  const body = await sent(page);
  expect(body).toMatchObject({ temperature: 0.3, max_tokens: 700 });
  expect(body).not.toHaveProperty("top_p");
  await useModel(page, "openai/o4-mini");
  await open(page);
  await expect(panel(page).locator("[data-part=not-taken]")).toContainText(
    "Temperature 0.3: not supported by this model",
  );
  await expect(panel(page).getByRole("textbox", { name: "Temperature" })).toHaveCount(0);
  await close(page);
  const other = await sent(page);
  expect(other).not.toHaveProperty("temperature");
  expect(other.max_tokens).toBe(700);
  await useModel(page, "openai/sim");
  await open(page);
  await panel(page).getByRole("button", { name: "Reset Temperature" }).click();
  await close(page);
  expect(await sent(page)).not.toHaveProperty("temperature");
});

test("the slider sets a parameter by keyboard", async ({ page }) => {
  await open(page);
  await panel(page).getByRole("slider", { name: "Temperature, slider" }).press("ArrowRight");
  const value = Number(await panel(page).getByRole("textbox", { name: "Temperature" }).inputValue());
  expect(value).toBeGreaterThan(0);
  await close(page);
  expect((await sent(page)).temperature).toBe(value);
});

test("the system prompt is sent once, applies, is changed and removed", async ({ page }) => {
  const write = async (text: string) => {
    await open(page);
    await panel(page).getByRole("textbox", { name: "System prompt" }).fill(text);
    await close(page);
  };
  await write("Today is {{date}}. Answer briefly, {{someone}}.");
  await open(page);
  await expect(panel(page).locator("[data-part=missing]")).toContainText("{{someone}}");
  await expect(panel(page).locator("[data-part=missing]")).not.toContainText("{{date}}");
  await close(page);
  await write("Today is {{date}}. Answer briefly.");
  const first = await sent(page);
  expect(first.system).toMatch(/^Today is .*\d.*\. Answer briefly\.$/);
  expect(first.system).not.toContain("{{");
  expect(await sent(page)).not.toHaveProperty("system");
  await page.reload();
  await ended(page);
  expect(await sent(page)).not.toHaveProperty("system");
  await write("Answer at length.");
  expect((await sent(page)).system).toBe("Answer at length.");
  await write("");
  expect((await sent(page)).system).toBe("");
});

test("reasoning panels follow their setting", async ({ page }) => {
  await choose(page, "Show reasoning", "Open");
  await ask(page, SEARCH);
  await ended(page);
  const heads = () => stops(page, "reasoning").locator("> div > div > button[aria-expanded]");
  expect(await heads().count()).toBeGreaterThan(0);
  for (const head of await heads().all()) await expect(head).toHaveAttribute("aria-expanded", "true");
  await choose(page, "Show reasoning", "Closed");
  for (const head of await heads().all()) await expect(head).toHaveAttribute("aria-expanded", "false");
  await page.reload();
  await ended(page);
  for (const head of await heads().all()) await expect(head).toHaveAttribute("aria-expanded", "false");
  await heads().first().click();
  await expect(heads().first()).toHaveAttribute("aria-expanded", "true");
});

test("the picker searches, stars, remembers and accepts any id", async ({ page }) => {
  const trigger = page.getByRole("button", { name: /^Model: / });
  const field = page.getByRole("combobox", { name: "Model" });
  const option = (id: string) => page.locator(`[role=option][data-model="${id}"]`);
  await trigger.click();
  await expect(field).toBeFocused();
  await field.fill("haiku");
  await expect(page.locator("[role=option][data-model]")).toHaveCount(1);
  await expect(option("anthropic/claude-haiku-4.5")).toContainText("200k");
  await expect(option("anthropic/claude-haiku-4.5")).toContainText("$1 · $5");
  await expect(option("anthropic/claude-haiku-4.5")).toHaveText(/Tools, .*Reasoning, .*Images, /);
  await page.keyboard.press("Control+d");
  await expect(page.getByRole("button", { name: /^Star/ })).toHaveAttribute("aria-pressed", "true");
  await page.keyboard.press("Enter");
  await expect(page.locator("[data-part=model]")).toHaveAttribute("title", "anthropic/claude-haiku-4.5");
  await expect(trigger).toBeFocused();
  await sent(page);
  await useModel(page, "openai/gpt-4o");
  await page.reload();
  await trigger.click();
  await expect(page.getByRole("group", { name: "Starred" }).locator("[role=option]")).toHaveCount(1);
  const recent = page.getByRole("group", { name: "Recent" });
  if ((await recent.count()) > 0) await expect(recent.locator("[role=option]").first()).toBeVisible();
  await page.getByRole("button", { name: "Images", exact: true }).click();
  await expect(option("qwen/chat-only")).toHaveCount(0);
  await page.getByRole("button", { name: "Images", exact: true }).click();
  await field.fill("no-such/model");
  await expect(page.locator("[data-part=free-id]")).toContainText("Not in the list.");
  await page.keyboard.press("Enter");
  await expect(page.locator("[data-part=model]")).toHaveAttribute("title", "no-such/model");
  await expect(response(page)).toHaveCount(1);
});

declare global {
  interface Window {
    themedAt: number;
  }
}

test("tool choice, limits and response format are sent once set, and survive a reload", async ({ page }) => {
  const names = ["tool_choice", "max_steps", "max_searches", "response_format"];
  const plain = await sent(page);
  for (const name of names) expect(plain).not.toHaveProperty(name);
  await open(page);
  const choice = panel(page).getByRole("combobox", { name: "Tool choice" });
  await choice.selectOption("tool:calculate");
  await panel(page).getByRole("textbox", { name: "Step limit" }).fill("3");
  await panel(page).getByRole("textbox", { name: "Search limit" }).fill("2");
  await panel(page).getByRole("combobox", { name: "Response format" }).selectOption({ label: "JSON" });
  await close(page);
  await expect(page.getByRole("button", { name: "Settings, 4 changed" })).toBeVisible();
  await page.reload();
  await ended(page);
  const body = await sent(page, "What is 6 * 7?");
  expect(body).toMatchObject({
    tool_choice: { type: "function", function: { name: "calculate" } },
    max_steps: 3,
    max_searches: 2,
    response_format: { type: "json_object" },
  });
  await expect(page.locator("[data-part=answer]").last()).toContainText('{"answer":');
  await open(page);
  for (const name of ["Tool choice", "Step limit", "Search limit", "Response format"])
    await panel(page)
      .getByRole("button", { name: `Reset ${name}` })
      .click();
  await close(page);
  const reset = await sent(page);
  for (const name of names) expect(reset).not.toHaveProperty(name);
});

test("an invalid JSON schema has an error at its field, and is not sent", async ({ page }) => {
  await open(page);
  await panel(page).getByRole("combobox", { name: "Response format" }).selectOption({ label: "JSON schema" });
  const schema = panel(page).getByRole("textbox", { name: "JSON schema" });
  await schema.fill('{"type": "object",');
  await expect(schema).toHaveAttribute("aria-invalid", "true");
  await expect(panel(page)).toContainText("This is not valid JSON");
  await close(page);
  expect(await sent(page)).not.toHaveProperty("response_format");
  await open(page);
  await schema.fill('{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}');
  await expect(schema).not.toHaveAttribute("aria-invalid", "true");
  await close(page);
  expect((await sent(page)).response_format).toEqual({
    type: "json_schema",
    json_schema: {
      name: "answer",
      schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    },
  });
  await expect(page.locator("[data-part=answer]").last()).toContainText('{"city":');
});

test("a run's settings are restored, including system prompt and tool choice", async ({ page }) => {
  await open(page);
  await panel(page).getByRole("textbox", { name: "System prompt" }).fill("Answer in rhyme.");
  await panel(page).getByRole("combobox", { name: "Tool choice" }).selectOption({ label: "None" });
  await panel(page).getByRole("textbox", { name: "Step limit" }).fill("4");
  await panel(page).getByRole("combobox", { name: "Response format" }).selectOption({ label: "Text" });
  await close(page);
  await sent(page, "First.");
  await open(page);
  await panel(page).getByRole("textbox", { name: "System prompt" }).fill("Answer in prose.");
  for (const name of ["Tool choice", "Step limit", "Response format"])
    await panel(page)
      .getByRole("button", { name: `Reset ${name}` })
      .click();
  await close(page);
  expect((await sent(page, "Second.")).system).toBe("Answer in prose.");

  const first = page.locator("[data-part=response]").first();
  await first.getByRole("button", { name: "Run details" }).click();
  await page.getByRole("button", { name: "Use these settings" }).click();
  await expect(page.getByRole("button", { name: "Settings applied" })).toBeVisible();
  await page.keyboard.press("Escape");
  expect(await sent(page, "Third.")).toMatchObject({
    system: "Answer in rhyme.",
    tool_choice: "none",
    max_steps: 4,
    response_format: { type: "text" },
  });
});

test("unset limits show the server's defaults", async ({ page }) => {
  await page.route("**/api/tools", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), limits: { max_steps: 11, max_searches: 9 } } });
  });
  const requests: string[] = [];
  page.on("request", (request) => requests.push(new URL(request.url()).pathname));
  await page.reload();
  await open(page);
  for (const [name, rest] of [
    ["Step limit", "11"],
    ["Search limit", "9"],
  ])
    await expect(panel(page).getByRole("slider", { name: `${name}, slider` })).toHaveValue(rest ?? "");
  expect(requests.filter((path) => path === "/api/tools")).toHaveLength(1);
  // Only set values are sent. Keys change the value from the slider's default position.
  await panel(page).getByRole("slider", { name: "Search limit, slider" }).press("ArrowRight");
  await expect(panel(page).getByRole("textbox", { name: "Search limit" })).toHaveValue("10");
  await expect(panel(page).getByRole("textbox", { name: "Step limit" })).toHaveValue("");
});

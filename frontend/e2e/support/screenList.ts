// Every screen of the page, and how to open it.
import { answerWithTable, largeTable } from "./largeTable.ts";
import {
  ask,
  askRun,
  useModel as chooseModel,
  end,
  ended,
  enterToken,
  expect,
  message,
  type Page,
  response,
  waitForText,
} from "./page.ts";
import type { Screen } from "./screens.ts";

export const SEARCH =
  "How does Signalbox keep a stream alive when the connection drops? Search for the journal of a run.";

/** An image of one red pixel. */
const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==",
  "base64",
);

const chat = (page: Page) => page.goto("/");

/** One answer for all screens that only show it. */
let answered: string | undefined;

export async function asked(page: Page, model?: string, status = "complete"): Promise<void> {
  await page.goto((!model && answered) || "/");
  if (!model && answered) return ended(page);
  if (model) await chooseModel(page, model);
  await ask(page, SEARCH);
  await ended(page, status);
  if (!model) answered = page.url();
}

/** A section of the operator page that needs the token, after it has loaded. */
async function operated(page: Page, section: string): Promise<void> {
  await page.goto(`/operator#${section}`);
  await enterToken(page);
  await expect(page.getByText("Loading…")).toHaveCount(0);
}

async function inspected(page: Page, tab: string): Promise<void> {
  await page.setViewportSize({ width: 1280, height: 800 });
  await asked(page);
  await end(page).getByRole("button", { name: "Run details" }).click();
  const inspector = page.locator("[data-part=inspector]");
  await inspector.getByRole("tab", { name: tab }).click();
  await expect(inspector.locator("[data-part=facts], [data-part=event]").first()).toBeVisible();
  if (tab === "Timeline") await inspector.locator("[data-part=row]").nth(1).click();
}

async function saved(page: Page): Promise<void> {
  await asked(page);
  await end(page).getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name: "Save", exact: true }).click();
  await expect(page.getByText("Saved. Find it under Saved in the sidebar.")).toBeVisible();
  await page.getByRole("tab", { name: "Saved" }).click();
}

async function withTable(page: Page): Promise<void> {
  await answerWithTable(page, largeTable(1000));
  await chat(page);
  await ask(page, "What is in stock?");
  await ended(page);
  await expect(page.getByRole("link", { name: "Red mug 1", exact: true })).toBeVisible();
}

export const SCREENS: readonly Screen[] = [
  { name: "large-table", open: withTable, timeout: 120_000 },
  { name: "empty", open: async (page) => void (await chat(page)) },
  {
    name: "streaming",
    moving: true,
    async open(page) {
      await chat(page);
      await chooseModel(page, "openai/sim-long-3000");
      await ask(page, "A long answer, please.");
      await waitForText(page);
    },
  },
  {
    name: "done-open",
    async open(page) {
      await asked(page);
      const folded = response(page).locator("[data-part=stop] > div > div > button[aria-expanded=false]");
      while ((await folded.count()) > 0) await folded.first().click();
    },
  },
  {
    name: "table",
    async open(page) {
      await chat(page);
      await ask(page, "Find a red mug under $20.");
      await ended(page);
      await expect(response(page).locator("[data-part=table] table, [data-part=table] li").first()).toBeAttached();
    },
  },
  {
    name: "error",
    open: (page) => asked(page, "openai/sim-error-402", "error"),
  },
  {
    name: "compare",
    async open(page) {
      await chat(page);
      await page.getByRole("button", { name: "Compare models" }).click();
      await expect(page.locator("[data-part=compared-model]")).toHaveCount(2);
      await ask(page, SEARCH);
      await expect(page.locator("[data-part=column] [data-part=end]")).toHaveCount(2, { timeout: 30_000 });
    },
  },
  { name: "inspector-timeline", open: (page) => inspected(page, "Timeline") },
  { name: "inspector-request", open: (page) => inspected(page, "Request") },
  { name: "inspector-events", open: (page) => inspected(page, "Events") },
  {
    name: "settings",
    async open(page) {
      await chat(page);
      await page.getByRole("button", { name: "Settings" }).click();
      await expect(page.locator("[data-part=settings]")).toBeVisible();
    },
  },
  {
    name: "picker",
    async open(page) {
      await chat(page);
      await page.getByRole("button", { name: /^Model: / }).click();
      await expect(page.getByRole("option").first()).toBeVisible();
    },
  },
  {
    name: "menu-answer",
    async open(page) {
      await asked(page);
      await end(page).getByRole("button", { name: "More", exact: true }).click();
      await expect(page.getByRole("menu")).toBeVisible();
    },
  },
  {
    name: "menu-copy",
    async open(page) {
      await asked(page);
      await end(page).getByRole("button", { name: "More ways to copy" }).click();
      await expect(page.getByRole("menu")).toBeVisible();
    },
  },
  {
    name: "retry-dialog",
    async open(page) {
      await asked(page);
      await end(page).getByRole("button", { name: "More", exact: true }).click();
      await page.getByRole("menuitem", { name: "Regenerate with another model" }).click();
      await expect(page.getByRole("dialog")).toBeVisible();
    },
  },
  {
    name: "branches-edit",
    async open(page) {
      await asked(page, "openai/sim-long-50");
      await end(page).getByRole("button", { name: "Regenerate" }).click();
      await expect(page.getByRole("group", { name: "Versions of the answer" })).toBeVisible();
      await ended(page);
      await message(page).press("ArrowUp");
      await expect(page.locator("[data-part=edit]")).toBeVisible();
    },
  },
  {
    name: "queue",
    moving: true,
    async open(page) {
      await chat(page);
      await chooseModel(page, "openai/sim-long-3000");
      await ask(page, "A long answer, please.");
      await waitForText(page);
      await ask(page, "And what is a run?");
      await ask(page, "And one more thing that is longer than a line of the queue can ever be, so that it is cut.");
      await expect(page.locator("[data-part=queue] li")).toHaveCount(2);
    },
  },
  {
    name: "pictures",
    async open(page) {
      await chat(page);
      await page.locator("[data-part=picture-input]").setInputFiles([
        { name: "red.png", mimeType: "image/png", buffer: PIXEL },
        { name: "a-picture-with-a-long-name.png", mimeType: "image/png", buffer: PIXEL },
      ]);
      await expect(page.locator("[data-part=picture]")).toHaveCount(2);
    },
  },
  {
    name: "sidebar-sheet",
    narrowOnly: true,
    async open(page) {
      await asked(page);
      await page.setViewportSize({ width: 375, height: 720 });
      await page.getByRole("button", { name: "Conversations" }).click();
      await expect(page.locator("[data-part=line]").first()).toBeVisible();
    },
  },
  {
    name: "sidebar-menu",
    async open(page) {
      await asked(page);
      const line = page.locator("[data-part=line]").first();
      await line.hover();
      await line.getByRole("button", { name: /^More for/ }).click();
      await expect(page.getByRole("menu")).toBeVisible();
    },
  },
  {
    name: "sidebar-search",
    async open(page) {
      await asked(page);
      await page.getByRole("textbox", { name: "Search conversations" }).fill("journal");
      await expect(page.locator("[data-part=line] mark").first()).toBeVisible();
    },
  },
  {
    name: "shortcuts",
    async open(page) {
      await chat(page);
      await page.keyboard.press("Control+/");
      await expect(page.getByRole("dialog", { name: "Keyboard shortcuts" })).toBeVisible();
    },
  },
  {
    name: "delete-dialog",
    async open(page) {
      await asked(page);
      await page.locator("[data-part=line] a").first().focus();
      await page.keyboard.press("Delete");
      await expect(page.getByRole("dialog")).toContainText("Delete this conversation?");
    },
  },
  {
    name: "token-dialog",
    async open(page) {
      await page.route("**/api/models*", (route) => route.fulfill({ status: 401, json: { error: "No token." } }));
      await chat(page);
      await expect(page.getByRole("dialog")).toContainText("access token");
    },
  },
  { name: "saved", open: saved },
  {
    name: "save",
    async open(page) {
      await saved(page);
      await page.locator("[data-part=line] a").first().click();
      await expect(page.getByText(/Saved on /)).toBeVisible();
      await expect(end(page)).toBeVisible();
    },
  },
  {
    name: "run",
    async open(page) {
      await chat(page);
      const id = await askRun(page, SEARCH);
      await ended(page);
      await page.goto(`/#run=${id}`);
      await expect(page.getByText("This answer was requested elsewhere, for example through the API.")).toBeVisible();
      await expect(end(page)).toBeVisible();
    },
  },
  {
    name: "operator",
    async open(page) {
      await page.goto("/operator");
      await expect(page.getByRole("form", { name: "TOOL_LOOP_V2" })).toBeVisible();
    },
  },
  {
    name: "operator-runs",
    async open(page) {
      await page.goto("/operator#runs");
      await expect(page.getByRole("heading", { name: "Recent runs" })).toBeVisible();
    },
  },
  ...["spend", "tokens", "sessions", "webhooks", "audit", "shadow"].map((section) => ({
    name: `operator-${section}`,
    open: (page: Page) => operated(page, section),
  })),
  {
    name: "operator-webhook-form",
    async open(page) {
      await operated(page, "webhooks");
      await page.getByRole("button", { name: "Add webhook" }).click();
    },
  },
  {
    name: "operator-token",
    async open(page) {
      await page.goto("/operator");
      await page.getByText("Percent", { exact: true }).click();
      await page.getByRole("button", { name: "Apply" }).click();
      await expect(page.getByRole("dialog")).toContainText("operator token");
    },
  },
  {
    name: "guide",
    async open(page) {
      await page.goto("/guide/");
      await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    },
  },
  {
    name: "docs",
    // The API reference shows every schema at once: axe takes most of a minute for its thousands of elements.
    timeout: 240_000,
    async open(page) {
      await page.goto("/docs");
      await expect(page.getByRole("region", { name: "POST /api/chat/stream", exact: true })).toBeVisible();
    },
  },
];

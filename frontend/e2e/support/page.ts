// Helpers for browser tests: send a message, choose a model, wait for the end, and fail on forbidden behaviour.
import AxeBuilder from "@axe-core/playwright";
import { type BrowserContext, test as base, expect, type Page } from "@playwright/test";
import { ADMIN_TOKEN, DATA } from "../../playwright.config.ts";

export { expect, type Page } from "@playwright/test";
export { ADMIN_TOKEN, DATA };

/** Forbidden behaviour of all tabs of a test. */
export class Faults {
  readonly all: string[] = [];
  readonly #allowed: RegExp[] = [];

  /** The test expects this fault. */
  allow(fault: RegExp): void {
    this.#allowed.push(fault);
  }

  /** Page errors, console errors and warnings, and requests to other hosts. */
  watch(context: BrowserContext, host: string): void {
    context.on("weberror", (error) => this.all.push(`error: ${error.error().stack ?? error.error()}`));
    context.on("console", (message) => {
      const text = message.text();
      if (message.type() === "error" || /content security policy|unique "key"|hydrat/i.test(text))
        this.all.push(`console: ${text} ${message.location().url}`);
    });
    context.on("request", (request) => {
      const { protocol, hostname } = new URL(request.url());
      if (protocol !== "data:" && protocol !== "blob:" && hostname !== host)
        this.all.push(`asked a third party: ${request.url()}`);
    });
  }

  get unexpected(): string[] {
    return this.all.filter((fault) => !this.#allowed.some((allowed) => allowed.test(fault)));
  }
}

/**
 * The test function for the page. Fails on page errors, CSP violations, console errors and requests to third parties.
 */
export const test = base.extend<{ faults: Faults }>({
  faults: [
    async ({ context, baseURL }, use) => {
      const faults = new Faults();
      faults.watch(context, new URL(baseURL ?? "").hostname);
      await use(faults);
      expect(faults.unexpected).toEqual([]);
    },
    { auto: true },
  ],
});

/** The browser logs failed requests. Tests that cause them allow this message. */
export const REFUSED = /console: Failed to load resource/;

export const response = (page: Page) => page.locator("[data-part=response]").last();
export const answer = (page: Page) => response(page).locator("[data-part=answer]");
export const end = (page: Page) => response(page).locator("[data-part=end]");
export const stops = (page: Page, kind: string) => response(page).locator(`[data-part=stop][data-kind=${kind}]`);
export const message = (page: Page) => page.getByRole("textbox", { name: "Message" });

/** Choose a model by its id, listed or not. */
export async function useModel(page: Page, id: string): Promise<void> {
  await page.getByRole("button", { name: /^Model: / }).click();
  await page.getByRole("combobox", { name: "Model" }).fill(id);
  await page.locator(`[role=option][data-model="${id}"], [data-part=free-id]`).first().click();
  await expect(page.locator("[data-part=model]")).toHaveAttribute("title", id);
}

/** Choose the model in the dialog "Regenerate with another model". */
export async function answerWith(page: Page, id: string): Promise<void> {
  const dialog = page.getByRole("dialog", { name: "Regenerate with another model" });
  await dialog.getByRole("button", { name: /^Model for the new answer: / }).click();
  await page.getByRole("combobox", { name: "Model for the new answer" }).fill(id);
  await page.locator(`[role=option][data-model="${id}"]`).click();
}

export async function ask(page: Page, question: string): Promise<void> {
  await message(page).fill(question);
  await page.keyboard.press("Enter");
}

/** Send a message, and return the id of its run. */
export async function askRun(page: Page, question: string): Promise<string> {
  const answered = page.waitForResponse("**/api/chat/stream");
  await ask(page, question);
  return (await answered).headers()["x-run-id"] ?? "";
}

/** Wait until the last answer has ended with this status. */
export async function ended(page: Page, status = "complete"): Promise<void> {
  await expect(end(page)).toHaveAttribute("data-status", status, { timeout: 30_000 });
}

/** Wait until the last answer shows some text. */
export async function waitForText(page: Page): Promise<void> {
  await expect(answer(page).last()).toContainText(/\w+ \w+ \w+/, { timeout: 20_000 });
}

/** Only letters and digits, so that Markdown and layout make no difference. */
export const letters = (text: string) => text.replaceAll(/[^\p{L}\p{N}]/gu, "");

/** The letters of the last answer. */
export const shown = async (page: Page) => letters((await answer(page).allTextContents()).join(""));

/** The stored events of a run. */
export async function journal(page: Page, runId: string): Promise<Record<string, unknown>[]> {
  const replay = await (await page.request.get(`/api/runs/${runId}/events`)).text();
  return [...replay.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? ""));
}

/** The letters of a run's stored answer. */
export async function said(page: Page, runId: string): Promise<string> {
  const events = await journal(page, runId);
  return letters(events.map((event) => (event.type === "content" ? event.content : "")).join(""));
}

/** WCAG 2.2 level AA, including targets of at least 24 px (`target-size`), and axe's best practices. */
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

export async function expectAccessible(page: Page): Promise<void> {
  // Transitions have less contrast than their end state. Running lamps never stop turning.
  await page.waitForFunction(() => !document.getAnimations().some((one) => one instanceof CSSTransition));
  // The preview frame shows another page.
  // Base UI's focus guards pass the focus on at once. axe takes them for hidden controls.
  const { violations } = await new AxeBuilder({ page })
    .withTags(TAGS)
    .exclude("[data-base-ui-focus-guard]")
    .exclude("iframe")
    .analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`)).toEqual([]);
}

/** Change a setting through the settings panel. */
export async function choose(page: Page, setting: string, value: string): Promise<void> {
  await page.getByRole("button", { name: /^Settings/ }).click();
  const group = page.getByRole("group", { name: setting });
  await group.getByText(value, { exact: true }).click();
  await expect(group.getByRole("radio", { name: value, exact: true })).toBeChecked();
  await page.keyboard.press("Escape");
  await expect(group).toBeHidden();
}

/** Enter the operator token in a section of the operator page. */
export async function enterToken(page: Page): Promise<void> {
  await page.getByRole("button", { name: /operator token|all users' runs/ }).click();
  await page.getByRole("textbox", { name: "Operator token" }).fill(ADMIN_TOKEN);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog")).toHaveCount(0);
}

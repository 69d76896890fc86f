// What every browser test does with the page: ask, choose a model, wait for the end, and fail on what must never happen.
import AxeBuilder from "@axe-core/playwright";
import { type BrowserContext, test as base, expect, type Page } from "@playwright/test";

export { expect, type Page } from "@playwright/test";
export { ADMIN_TOKEN, DATA } from "../../playwright.config.ts";

/** What a page must never do, collected over all tabs of a test. */
export class Faults {
  readonly all: string[] = [];
  readonly #allowed: RegExp[] = [];

  /** This fault is what the test is about. */
  allow(fault: RegExp): void {
    this.#allowed.push(fault);
  }

  /** Errors on any tab, words of the console, requests that leave the machine. */
  watch(context: BrowserContext, host: string): void {
    context.on("weberror", (error) => this.all.push(`error: ${error.error().stack ?? error.error()}`));
    context.on("console", (message) => {
      const text = message.text();
      if (message.type() === "error" || /content security policy|unique "key"|hydrat/i.test(text))
        this.all.push(`console: ${text} ${message.location().url}`);
    });
    context.on("request", (request) => {
      const { protocol, hostname } = new URL(request.url());
      if (protocol !== "data:" && hostname !== host) this.all.push(`asked a third party: ${request.url()}`);
    });
  }

  get unexpected(): string[] {
    return this.all.filter((fault) => !this.#allowed.some((allowed) => allowed.test(fault)));
  }
}

/** Every test of the page: it fails on page errors, CSP violations, errors in the console and requests to third parties. */
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

/** The browser itself says in the console that a request has failed; a test that makes one fail allows it. */
export const REFUSED = /console: Failed to load resource/;

export const response = (page: Page) => page.locator("[data-part=response]").last();
export const answer = (page: Page) => response(page).locator("[data-part=answer]");
export const end = (page: Page) => response(page).locator("[data-part=end]");
export const stops = (page: Page, kind: string) => response(page).locator(`[data-part=stop][data-kind=${kind}]`);
export const message = (page: Page) => page.getByRole("textbox", { name: "Message" });

/** Choose a model by its id, whether it is on the list or not. */
export async function useModel(page: Page, id: string): Promise<void> {
  await page.getByRole("button", { name: /^Model: / }).click();
  await page.getByRole("combobox", { name: "Model" }).fill(id);
  await page.locator(`[role=option][data-model="${id}"], [data-part=free-id]`).first().click();
  await expect(page.locator("[data-part=model]")).toHaveAttribute("title", id);
}

/** In the dialog of another answer, choose the model of that answer. */
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

/** Ask, and return the id of the run. */
export async function askRun(page: Page, question: string): Promise<string> {
  const answered = page.waitForResponse("**/api/chat/stream");
  await ask(page, question);
  return (await answered).headers()["x-run-id"] ?? "";
}

/** Wait for the end of the last answer, and for how it ended. */
export async function ended(page: Page, status = "complete"): Promise<void> {
  await expect(end(page)).toHaveAttribute("data-status", status, { timeout: 30_000 });
}

/** Wait until some words of the last answer can be read. */
export async function someWords(page: Page): Promise<void> {
  await expect(answer(page).last()).toContainText(/\w+ \w+ \w+/, { timeout: 20_000 });
}

/** Words without what markdown and layout make of them. */
export const letters = (text: string) => text.replaceAll(/[^\p{L}\p{N}]/gu, "");

/** What the last answer shows, in letters. */
export const shown = async (page: Page) => letters((await answer(page).allTextContents()).join(""));

/** The events of a run as the server has kept them. */
export async function journal(page: Page, runId: string): Promise<Record<string, unknown>[]> {
  const replay = await (await page.request.get(`/api/runs/${runId}/events`)).text();
  return [...replay.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? ""));
}

/** The words of a run's answer as the server has kept them, in letters. */
export async function said(page: Page, runId: string): Promise<string> {
  const events = await journal(page, runId);
  return letters(events.map((event) => (event.type === "content" ? event.content : "")).join(""));
}

/** WCAG 2.2 at level AA, where targets have at least 24 px (`target-size`), and what axe calls good practice. */
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

export async function expectAccessible(page: Page): Promise<void> {
  // A colour on its way to another one has less contrast than either; a lamp that turns never ends.
  await page.waitForFunction(() => !document.getAnimations().some((one) => one instanceof CSSTransition));
  // Base UI's guards at both ends of what is open hand the focus on at once; axe takes them for hidden controls.
  const { violations } = await new AxeBuilder({ page }).withTags(TAGS).exclude("[data-base-ui-focus-guard]").analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`)).toEqual([]);
}

/** Set something in the settings, as a reader does. */
export async function choose(page: Page, setting: string, value: string): Promise<void> {
  await page.getByRole("button", { name: /^Settings/ }).click();
  const group = page.getByRole("group", { name: setting });
  await group.getByText(value, { exact: true }).click();
  await expect(group.getByRole("radio", { name: value, exact: true })).toBeChecked();
  await page.keyboard.press("Escape");
  await expect(group).toBeHidden();
}

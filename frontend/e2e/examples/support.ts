// Helpers for the tests of the example pages.
import AxeBuilder from "@axe-core/playwright";
import { expect, type Page } from "../support/page.ts";

/** A model whose answer takes some seconds. */
export const LONG = "?model=openai/sim-long-600";

export const input = (page: Page) => page.getByRole("textbox", { name: "Message" });

/** Send a message; return the id of its run. */
export async function ask(page: Page, text: string): Promise<string> {
  const answered = page.waitForResponse((response) => response.headers()["x-run-id"] !== undefined);
  await input(page).fill(text);
  await input(page).press("Enter");
  return runOf(await answered);
}

const runOf = (response: { headers(): Record<string, string> }): string => response.headers()["x-run-id"] ?? "";

/** Wait until a run has ended; return its status. */
export async function statusOf(page: Page, runId: string, seconds: number): Promise<string> {
  let status = "";
  const readStatus = async () => {
    const run = await (await page.request.get(`/api/runs/${runId}`)).json();
    status = run.status;
    return status;
  };
  await expect.poll(readStatus, { timeout: seconds * 1000, intervals: [50] }).not.toBe("running");
  return status;
}

/** The text of the last answer of the thread that the address names. */
export async function storedAnswer(page: Page): Promise<string> {
  const thread = await page.evaluate(() => location.hash.slice(1));
  const { messages } = await (await page.request.get(`/api/conversations/${thread}`)).json();
  return messages.at(-1).text.trim();
}

/** Accessible by axe's rules, also at 375 pixels, where nothing is wider than the screen. */
export async function expectAccessible(page: Page): Promise<void> {
  const wide = page.viewportSize();
  for (const size of [wide, { width: 375, height: 760 }]) {
    if (size) await page.setViewportSize(size);
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  }
  if (wide) await page.setViewportSize(wide);
}

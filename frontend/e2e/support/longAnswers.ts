// Long answers: requested, stopped, and compared with the journal.
import { askRun, ended, expect, journal, type Page, said, shown, stops, useModel, waitForText } from "./page.ts";

export const stop = (page: Page) => page.getByRole("button", { name: "Stop", exact: true });
export const connection = (page: Page) => stops(page, "connection");

/** Ask for a long answer, and return its run's id once the first words are shown. */
export async function askLong(page: Page, deltas: number): Promise<string> {
  await useModel(page, `openai/sim-long-${deltas}`);
  const runId = await askRun(page, "A long answer, please.");
  await waitForText(page);
  return runId;
}

export async function expectWhole(page: Page, runId: string): Promise<void> {
  await ended(page);
  expect(await shown(page)).toBe(await said(page, runId));
  const steps = (await journal(page, runId)).filter(({ type }) => type === "tool_calls").length;
  if (steps === 0) await expect(stops(page, "search")).toHaveCount(0);
}

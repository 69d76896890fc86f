// Every screen at every width, dark and light: no overflow, no axe violations, and a screenshot of each.
import {
  answer,
  ask,
  askRun,
  useModel as chooseModel,
  ended,
  expect,
  journal,
  message,
  REFUSED,
  response,
  test,
  waitForText,
} from "./support/page.ts";
import { asked, SCREENS, SEARCH } from "./support/screenList.ts";
import { expectFits, inspectScreen } from "./support/screens.ts";

for (const screen of SCREENS) {
  test(`${screen.name} fits every window in dark and light, and axe finds nothing`, async ({ page, faults }) => {
    if (screen.timeout) test.setTimeout(screen.timeout);
    faults.allow(REFUSED);
    await page.setViewportSize({ width: 1280, height: 800 });
    await screen.open(page);
    await inspectScreen(page, screen);
    if (screen.moving) await page.getByRole("button", { name: "Stop" }).first().click();
  });
}

test("reduced motion stops all animation, even during an answer", async ({ page }) => {
  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.goto("/");
  await chooseModel(page, "openai/sim-long-3000");
  await ask(page, "A long answer, please.");
  const moving = () => page.evaluate(() => document.getAnimations().length);
  expect(await moving()).toBe(0);
  await waitForText(page);
  expect(await moving()).toBe(0);
  await page.getByRole("button", { name: "Settings" }).click();
  await expect(page.getByRole("dialog")).toBeVisible();
  expect(await moving()).toBe(0);
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await message(page).press("Escape");
  await ended(page, "cancelled");

  // The lamps turn by default. Otherwise this test would also pass without any animation.
  await page.emulateMedia({ reducedMotion: "no-preference" });
  await ask(page, "Once more, please.");
  await expect.poll(moving).toBeGreaterThan(0);
  await page.getByRole("button", { name: "Stop" }).click();
});

test("forced colours keep every lamp and its shape", async ({ page }) => {
  await page.emulateMedia({ forcedColors: "active" });
  await asked(page);
  const lamps = response(page).locator("svg[data-lamp]");
  await expect.poll(() => lamps.count()).toBeGreaterThan(2);
  const seen = await lamps.evaluateAll((all) =>
    all.map((lamp) => {
      const { color } = getComputedStyle(lamp);
      return color !== getComputedStyle(document.body).backgroundColor;
    }),
  );
  expect(seen).not.toContain(false);
  await expectFits(page);
});

test("a screen reader hears the state of the run, and never the text of the answer", async ({ page }) => {
  await page.goto("/");
  await page.evaluate(() => {
    const heard: string[] = [];
    Object.assign(window, { heard });
    const hear = () => {
      for (const region of document.querySelectorAll("main ~ [role=status], footer ~ [role=status]")) {
        const words = region.textContent?.trim() ?? "";
        if (words && heard.at(-1) !== words) heard.push(words);
      }
    };
    new MutationObserver(hear).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  const runId = await askRun(page, SEARCH);
  await ended(page);
  const heard = await page.evaluate(() => (window as unknown as { heard: string[] }).heard);
  expect(heard).toContain("Thinking.");
  expect(heard).toContain("Writing the answer.");
  expect(heard.at(-1)).toBe("The answer is complete.");
  const events = await journal(page, runId);
  expect(events.filter(({ type }) => type === "content").length).toBeGreaterThan(20);
  expect(heard.length).toBeLessThan(15);
  for (const words of heard) expect(words).toMatch(/^(Waiting|Thinking|Searching|Using|Writing|Still|The answer)/);
  // No live region contains the text of the answer.
  await expect(answer(page).locator("xpath=ancestor::*[@aria-live or @role='status' or @role='log']")).toHaveCount(0);
});

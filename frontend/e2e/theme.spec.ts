// Dark and light theme, by the system or by choice.
import { choose, expect, type Page, test } from "./support/page.ts";

test.use({ viewport: { width: 1280, height: 800 } });
test.beforeEach(({ page }) => page.goto("/"));

const scheme = (page: Page) => page.evaluate(() => getComputedStyle(document.documentElement).colorScheme);
const ground = (page: Page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);

test("the theme follows the system or the choice, without a flash of the other", async ({ page, context }) => {
  await page.emulateMedia({ colorScheme: "light" });
  const light = await ground(page);
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await ground(page);
  expect(dark).not.toBe(light);
  await choose(page, "Theme", "Light");
  expect(await ground(page)).toBe(light);
  expect(await scheme(page)).toBe("light");

  // While the script loads slowly, the system's theme must not be painted.
  await page.route("**/assets/*.js", async (route) => {
    await new Promise((done) => setTimeout(done, 150));
    await route.continue();
  });
  await page.addInitScript(() => {
    Object.assign(window, { themedAt: Number.POSITIVE_INFINITY });
    const look = () => {
      if (document.documentElement?.dataset.theme === "light" && window.themedAt === Number.POSITIVE_INFINITY)
        window.themedAt = performance.now();
    };
    new MutationObserver(look).observe(document, { attributes: true, subtree: true, childList: true });
  });
  await page.reload();
  await expect(page.locator("[data-part=empty]")).toBeVisible();
  const [themed, painted] = await page.evaluate(() => [
    window.themedAt,
    performance.getEntriesByName("first-paint")[0]?.startTime ?? 0,
  ]);
  expect(painted).toBeGreaterThan(0);
  expect(themed).toBeLessThan(painted ?? 0);
  await page.unrouteAll({ behavior: "wait" });

  // It applies to every page and tab.
  const other = await context.newPage();
  await other.emulateMedia({ colorScheme: "dark" });
  await other.goto("/operator");
  expect(await ground(other)).toBe(light);
  await choose(page, "Theme", "Dark");
  await expect.poll(() => ground(other)).toBe(dark);
  await choose(page, "Theme", "System");
  await page.emulateMedia({ colorScheme: "light" });
  expect(await ground(page)).toBe(light);
});

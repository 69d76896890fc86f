// A DataTable of 1,000 rows, as a table and as cards: what is rendered, and that all of it can be reached.
import { answerWithTable, largeTable } from "./support/largeTable.ts";
import { ask, ended, expect, expectAccessible, type Page, REFUSED, test } from "./support/page.ts";
import { expectFits } from "./support/screens.ts";

const ROWS = 1000;
/** Of the whole table, headings and buttons included. */
const MOST_ELEMENTS = 1200;

const table = (page: Page) => page.locator("[data-part=table]");
const box = (page: Page) => table(page).getByRole("region", { name: "Rows of Stock" });
const field = (page: Page) => table(page).getByRole("searchbox", { name: "Filter Stock" });
const first = (page: Page) => box(page).getByRole("link").first();
const elements = (page: Page) => table(page).evaluate((part) => part.getElementsByTagName("*").length);

async function open(page: Page, width: number): Promise<void> {
  await page.setViewportSize({ width, height: 800 });
  await answerWithTable(page, largeTable(ROWS));
  await page.goto("/");
  await ask(page, "What is in stock?");
  await ended(page);
  await expect(first(page)).toHaveText("Red mug 1");
}

/** Scroll through all rows as a user does, and return the names of the rows that were rendered on the way. */
async function scrollThrough(page: Page): Promise<{ names: number; mostElements: number }> {
  return box(page).evaluate(async (element) => {
    const names = new Set<string | null>();
    let mostElements = 0;
    const part = element.closest("[data-part=table]") ?? element;
    for (let still = 0; still < 5; ) {
      for (const link of element.querySelectorAll("a")) names.add(link.textContent);
      mostElements = Math.max(mostElements, part.getElementsByTagName("*").length);
      const before = element.scrollTop;
      element.scrollTop += element.clientHeight * 0.9;
      await new Promise(requestAnimationFrame);
      await new Promise(requestAnimationFrame);
      still = element.scrollTop === before ? still + 1 : 0;
    }
    return { names: names.size, mostElements };
  });
}

test.beforeEach(({ faults }) => {
  test.setTimeout(120_000);
  // The server does not know the run.
  faults.allow(REFUSED);
});

test("1,000 rows are one table of which few rows are rendered", async ({ page }) => {
  await open(page, 1280);
  const grid = page.getByRole("table", { name: "Stock" });
  await expect(grid).toHaveAttribute("aria-rowcount", "1001");
  const widths = () =>
    grid
      .locator("tr")
      .evaluateAll((rows) => [
        ...new Set(rows.map((row) => [...row.children].map((cell) => cell.clientWidth).join(" "))),
      ]);
  const [frozen, ...others] = await widths();
  expect(others).toEqual([]);
  expect(await elements(page)).toBeLessThan(MOST_ELEMENTS);
  await expectAccessible(page);
  await expectFits(page);

  const { names, mostElements } = await scrollThrough(page);
  expect(names).toBe(ROWS);
  expect(mostElements).toBeLessThan(MOST_ELEMENTS);
  await expect(grid.getByRole("row").last()).toHaveAttribute("aria-rowindex", "1001");
  expect(await widths()).toEqual([frozen]);

  await grid.getByRole("columnheader", { name: "Price" }).getByRole("button").click();
  await expect(grid.getByRole("row").nth(1)).toContainText("$1.00");
  await grid.getByRole("columnheader", { name: "Price" }).getByRole("button").click();
  await expect(grid.getByRole("row").nth(1)).toContainText("$1,000.00");
  await field(page).fill("sold out teapot $9");
  await expect(table(page).getByText(/^\d+ of 1,000 rows$/)).toBeVisible();
  for (const row of await grid
    .getByRole("row")
    .filter({ has: page.getByRole("cell") })
    .all())
    await expect(row).toContainText(/Teapot.*\$9.*Sold out/);
  expect(await widths()).toEqual([frozen]);
  await field(page).press("Escape");
  await expect(field(page)).toHaveValue("");
  await expect(first(page)).toHaveAttribute("href", /shop\.example/);
});

test("keys scroll through the rows, and Tab goes from row to row", async ({ page }) => {
  await open(page, 1280);
  await field(page).focus();
  await page.keyboard.press("Tab");
  await expect(box(page)).toBeFocused();
  await page.keyboard.press("End");
  await expect(box(page).getByRole("link", { name: "Tray 1000" })).toBeVisible();
  await page.keyboard.press("Home");
  await expect(box(page).getByRole("link", { name: "Red mug 1", exact: true })).toBeVisible();
  await first(page).focus();
  // Each row has a link, and each with more than two tags a button that shows the others. The key repeats while it is
  // held: faster than the box scrolls and than new rows are measured.
  const stops = largeTable(59).data.reduce(
    (sum, { tags }) => sum + (Array.isArray(tags) && tags.length > 2 ? 2 : 1),
    0,
  );
  await Promise.all(Array.from({ length: stops }, () => page.keyboard.down("Tab")));
  await page.keyboard.up("Tab");
  await expect(box(page).locator("a:focus")).toHaveText("Tray 60");
  await expect(box(page).locator("a:focus")).toBeInViewport();
  await page.keyboard.down("Shift");
  await Promise.all(Array.from({ length: stops }, () => page.keyboard.down("Tab")));
  await page.keyboard.up("Tab");
  await page.keyboard.up("Shift");
  await expect(first(page)).toBeFocused();
});

test("1,000 rows are cards on a phone", async ({ page }) => {
  await open(page, 390);
  expect(await elements(page)).toBeLessThan(MOST_ELEMENTS);
  await expectAccessible(page);
  await expectFits(page);
  const { names, mostElements } = await scrollThrough(page);
  expect(names).toBe(ROWS);
  expect(mostElements).toBeLessThan(MOST_ELEMENTS);
  await table(page).getByLabel("Sort by").selectOption("Price, descending");
  await expect(box(page).getByRole("listitem").first()).toContainText("$1,000.00");
  await field(page).fill("$77.00");
  await expect(box(page).getByRole("listitem")).toHaveCount(1);
});

test("all rows are downloaded as CSV", async ({ page }) => {
  await open(page, 1280);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    table(page).getByRole("button", { name: "Download as CSV" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe("Stock.csv");
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
  const lines = Buffer.concat(chunks).toString().split("\r\n");
  expect(lines).toHaveLength(ROWS + 1);
  expect(lines[1]).toBe("Red mug 1,https://shop.example/1,501,0,-10,In stock,true,kitchen,2026-01-01");
});

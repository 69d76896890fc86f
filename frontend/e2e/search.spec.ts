// Searches on the line: sources with the server's numbers, bursts, and failures.
import { answer, ask, askRun, end, ended, expect, journal, response, stops, test, useModel } from "./support/page.ts";
import { seenLine, seenText, watchLine, watchText } from "./support/watch.ts";
import { openWire } from "./support/wire.ts";

const SEARCH = "How does Signalbox keep a stream alive when the connection drops?";

interface Link {
  n: number;
  url: string;
  title: string;
  snippet: string;
}

test.beforeEach(async ({ page }) => {
  await page.goto("/");
});

test("a citation links to the source with the server's number", async ({ page }) => {
  const runId = await askRun(page, SEARCH);
  await ended(page);
  const found = (await journal(page, runId)).flatMap((event) =>
    event.type === "tool_result" ? (event.result as { result: { results: Link[] } }).result.results : [],
  );
  const sources = new Map(found.map((link) => [link.n, link]));
  expect(sources.size).toBeGreaterThan(0);

  const cites = response(page).locator("[data-part=cite]");
  expect(await cites.count()).toBeGreaterThan(0);
  for (const cite of await cites.all()) {
    const n = Number(/^\[(\d+)\]$/.exec((await cite.textContent()) ?? "")?.[1]);
    await expect(cite).toHaveAttribute("href", sources.get(n)?.url ?? "none");
    await expect(cite).toHaveAttribute("rel", "noopener noreferrer");
  }
  const n = Number(/\d+/.exec((await cites.first().textContent()) ?? "")?.[0]);
  await cites.first().hover();
  const card = page.locator("[data-part=cite-card]");
  await expect(card).toContainText(sources.get(n)?.title ?? "none");
  await expect(card).toContainText((sources.get(n)?.snippet ?? "none").slice(0, 40));

  await stops(page, "search").getByRole("button").first().click();
  for (const link of sources.values()) {
    const row = response(page).locator(`[data-part=source][href="${link.url}"]`).first();
    await expect(row).toContainText(link.title);
    await expect(row).toContainText(`[${link.n}]`);
    await expect(row).toHaveAttribute("rel", "noopener noreferrer");
  }
  const first = response(page).locator("[data-part=source]").first();
  const excerpt = page.locator("[data-part=excerpt]");
  await expect(async () => {
    // The panel is animated, so wait until it is open.
    await page.mouse.move(0, 0);
    await first.hover();
    await expect(excerpt).toBeVisible({ timeout: 1500 });
  }).toPass();
  const shown = [...sources.values()].find(({ url }) => url === found[0]?.url);
  await expect(excerpt).toContainText((shown?.snippet ?? "none").slice(0, 40));
});

test("eight searches are one line, with those over the limit, and one warning above", async ({ page, baseURL }) => {
  const wire = await openWire(baseURL ?? "");
  await page.goto(wire.url);
  await useModel(page, "openai/sim-searches-8");
  const line = stops(page, "search");
  const title = line.getByRole("button").first();
  const first = wire.holdBefore('"type":"tool_result"');
  await ask(page, "What is a run?");
  await first;
  await expect(title).toHaveText("Searching");
  // Links appear as they are found.
  await wire.release('"type":"tool_result"');
  await expect(title).toContainText(/· \d+ sources?$/);
  const early = Number(/(\d+) source/.exec((await title.textContent()) ?? "")?.[1]);
  await expect(response(page).locator("[data-part=source]").first()).toBeVisible();
  await wire.release('"type":"content"');
  await expect(title).toContainText(/Searched 6× · \d+ sources · 2 skipped/);
  expect(Number(/(\d+) source/.exec((await title.textContent()) ?? "")?.[1])).toBeGreaterThan(early);
  await expect(line).toHaveCount(1);
  await expect(line.locator("[data-part=query]")).toHaveCount(8);
  await expect(line).toContainText("skipped: limit reached");
  const warnings = response(page).locator("[data-part=warning]");
  await expect(warnings).toHaveCount(1);
  await expect(warnings).toHaveAttribute("data-code", "TOOL_CLAMP");
  const [warned, began] = await Promise.all([warnings.boundingBox(), stops(page, "reasoning").first().boundingBox()]);
  expect(warned?.y).toBeLessThan(began?.y ?? 0);
  wire.close();
});

test("a failed search is visible without opening the panel", async ({ page }) => {
  await useModel(page, "openai/sim-bad-args");
  await ask(page, "What is a run?");
  await ended(page);
  const search = stops(page, "search").first();
  await expect(search).toHaveAttribute("data-lamp", "failed");
  await expect(search.getByRole("button").first()).toContainText("failed");
  await search.getByRole("button").first().click();
  await expect(search.locator("[data-part=query]").first()).toContainText("the model's request was cut off");
  await expect(response(page).locator("[data-part=error]")).toHaveCount(0);
});

test("a repeated search is marked as cached", async ({ page }) => {
  await useModel(page, "openai/sim-duplicate");
  await ask(page, "What is a run?");
  await ended(page);
  const search = stops(page, "search");
  await expect(search).toHaveCount(1);
  await expect(search.getByRole("button").first()).toContainText(/Searched 3× · \d+ sources? · 2 cached/);
  await search.getByRole("button").first().click();
  await expect(search.locator("[data-part=query]").nth(1)).toContainText("cached");
  const links = await search.locator("[data-part=source]").evaluateAll((all) => all.map((a) => a.getAttribute("href")));
  expect(new Set(links).size).toBe(links.length);
});

test("hidden tools never show on the line, but in the inspector", async ({ page }) => {
  await useModel(page, "openai/sim-parallel");
  await watchText(page);
  await watchLine(page);
  await ask(page, "What is a run?");
  await ended(page);
  const words = (await seenText(page)).join("\n");
  expect(words).toContain("Searched");
  expect(words).not.toMatch(/get_current_time|calculate|Clock|Calculator/);
  expect((await seenLine(page)).flat().filter(({ kind }) => kind === "tools")).toEqual([]);
  await expect(answer(page).last()).toBeVisible();

  await end(page).getByRole("button", { name: "Run details" }).click();
  const inspector = page.locator("[data-part=inspector]").last();
  await expect(inspector.locator("[data-part=row]", { hasText: "Clock" })).toHaveCount(1);
  await expect(inspector.locator("[data-part=row]", { hasText: "Calculator" })).toHaveCount(1);
});

test("an unknown tool is a chip with its failure", async ({ page }) => {
  await useModel(page, "openai/sim-unknown-tool");
  await ask(page, "What is a run?");
  await ended(page);
  await expect(response(page).locator("[data-part=chip]")).toContainText("Lookup everything");
  await expect(stops(page, "tools")).toHaveAttribute("data-lamp", "failed");
});

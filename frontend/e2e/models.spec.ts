// The model list opens at the current model, everywhere in the page.
import { answerWith, ask, ended, expect, expectAccessible, type Page, test, useModel } from "./support/page.ts";

const LATE = "qwen/sim";

const list = (page: Page) => page.getByRole("listbox", { name: "Models" });
const row = (page: Page, id: string) => list(page).locator(`[data-model="${id}"]`);

/** The row is active, referenced by the field, and completely visible. */
async function expectOpenAt(page: Page, id: string): Promise<void> {
  await expect(row(page, id)).toHaveAttribute("data-active", "true");
  const rowId = await row(page, id).getAttribute("id");
  await expect(page.locator("[role=combobox][aria-controls]")).toHaveAttribute("aria-activedescendant", rowId ?? "");
  await expect
    .poll(async () => {
      const [box, inner] = await Promise.all([list(page).boundingBox(), row(page, id).boundingBox()]);
      return box && inner ? inner.y >= box.y && inner.y + inner.height <= box.y + box.height : false;
    })
    .toBe(true);
}

/** As many models as OpenRouter lists, most of them before the wanted one. */
async function withLongList(page: Page): Promise<void> {
  await page.route("**/api/models*", async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    const made = Array.from({ length: 300 }, (_, at) => ({ id: `made/model-${at}`, name: `Made: Model ${at}` }));
    const [first, ...others] = body.models;
    await route.fulfill({ response, json: { ...body, models: [first, ...made, ...others] } });
  });
}

test("the list opens at the current model", async ({ page }) => {
  await page.goto("/");
  await useModel(page, LATE);
  await expect(list(page)).toHaveCount(0);
  await page.getByRole("button", { name: /^Model: / }).click();
  await expectOpenAt(page, LATE);
  await expect(row(page, LATE)).toHaveAttribute("aria-selected", "true");
  // Arrow keys continue from there, and a search starts at its best match.
  await page.keyboard.press("ArrowUp");
  await expect(row(page, LATE)).toHaveAttribute("data-active", "false");
  await page.getByRole("combobox", { name: "Model" }).fill("sonnet");
  await expect(list(page).getByRole("option").first()).toHaveAttribute("data-active", "true");
  await page.getByRole("combobox", { name: "Model" }).fill("");
  await expectOpenAt(page, LATE);
  await page.keyboard.press("Escape");
  // After it was used, it is at the top, among the recent models.
  await ask(page, "Hello.");
  await ended(page);
  await page.getByRole("button", { name: /^Model: / }).click();
  await expect(page.getByRole("group", { name: "Recent" }).getByRole("option").first()).toHaveAttribute(
    "data-model",
    LATE,
  );
  await expectOpenAt(page, LATE);
});

test("a model far down a long list is in view, also in a low window", async ({ page }) => {
  await withLongList(page);
  await page.goto("/");
  await useModel(page, LATE);
  await expect(list(page)).toHaveCount(0);
  for (const height of [800, 420]) {
    await page.setViewportSize({ width: 1280, height });
    await page.getByRole("button", { name: /^Model: / }).click();
    await expectOpenAt(page, LATE);
    await page.keyboard.press("Escape");
    await expect(list(page)).toHaveCount(0);
  }
});

test("the lists for another answer and for a comparison open there too", async ({ page }) => {
  await withLongList(page);
  await page.goto("/");
  await ask(page, "Hello.");
  await ended(page);
  await page.locator("[data-part=end]").getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name: "Regenerate with another model" }).click();
  await answerWith(page, LATE);
  await page.getByRole("button", { name: /^Model for the new answer: / }).click();
  await expectOpenAt(page, LATE);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");

  await page.getByRole("button", { name: "Compare models" }).click();
  const compared = page.getByRole("group", { name: "Models to compare" });
  await compared.getByRole("button", { name: "Add a model" }).click();
  await page.getByRole("combobox", { name: "Model to compare" }).fill(LATE);
  await row(page, LATE).click();
  await expect(list(page)).toHaveCount(0);
  // Adding opens the list at the last added model. Selected models are marked.
  await compared.getByRole("button", { name: "Add a model" }).click();
  await expectOpenAt(page, LATE);
  await expect(list(page).locator("[aria-selected=true]")).toHaveCount(3);
  await page.keyboard.press("Escape");
  await expect(list(page)).toHaveCount(0);
  // A chip opens the list at its own model. Another choice replaces it in place.
  await compared
    .locator(`[title="${LATE}"]`)
    .getByRole("button", { name: /^Change/ })
    .click();
  await expectOpenAt(page, LATE);
  await page.keyboard.type("mistralai/sim");
  await page.keyboard.press("Enter");
  await expect(compared.locator("[data-part=compared-model]").last()).toHaveAttribute("title", "mistralai/sim");
  await expect(compared.locator("[data-part=compared-model]")).toHaveCount(3);
});

test("a stored model that is no longer listed is marked, says what to do, and is no longer marked once changed", async ({
  page,
}) => {
  const stored = { version: 1, ask: { model: "openai/gone" }, recent: ["openai/gone"] };
  await page.addInitScript((settings) => localStorage.setItem("signalbox.settings", settings), JSON.stringify(stored));
  for (const width of [375, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    await page.goto("/");
    const button = page.getByRole("button", { name: "Model: openai/gone Not listed" });
    await expect(button.locator("[data-part=unlisted]")).toBeVisible();
    await expectAccessible(page);
  }
  await page.getByRole("button", { name: /^Settings/ }).click();
  await expect(page.locator("[data-part=model-details]")).toContainText("choose another model at the top of the chat");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: /^Model: / }).click();
  await expect(page.locator("[data-part=unlisted-note]")).toContainText("Choose another model.");
  await expect(row(page, "openai/gone")).toContainText("Not in the model list");
  await expectAccessible(page);
  await page.getByRole("combobox", { name: "Model" }).fill("openai/sim");
  await row(page, "openai/sim").click();
  await expect(page.locator("[data-part=unlisted]")).toHaveCount(0);
});

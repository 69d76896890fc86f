// Images: pasted, dropped and chosen; shown small and large, sent, and rejected if the model cannot read them.
import { ask, ended, expect, message, type Page, test, useModel } from "./support/page.ts";

/** One red pixel. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==";
const file = (name: string) => ({ name, mimeType: "image/png", buffer: Buffer.from(PNG, "base64") });

const pictures = (page: Page) => page.locator("[data-part=composer] [data-part=picture]");
const refusal = (page: Page) => page.locator("[data-part=composer] > div [role=status]");

test.beforeEach(({ page }) => page.goto("/"));

/** Dispatch an event with a file, like a paste or a drop. */
async function give(page: Page, type: "paste" | "dragover" | "drop", name = `${type}.png`): Promise<void> {
  await message(page).evaluate(
    (box, { type, name, png }) => {
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(atob(png), (c) => c.charCodeAt(0))], name, { type: "image/png" }));
      const options = { bubbles: true, cancelable: true };
      box.dispatchEvent(
        type === "paste"
          ? new ClipboardEvent(type, { ...options, clipboardData: data })
          : new DragEvent(type, { ...options, dataTransfer: data }),
      );
    },
    { type, name, png: PNG },
  );
}

test("images are pasted, dropped and chosen, shown, and sent as data", async ({ page }) => {
  await give(page, "paste");
  await expect(pictures(page)).toHaveCount(1);
  await give(page, "dragover");
  await expect(page.locator("[data-part=drop-area]")).toContainText("Drop images here to add them to your message.");
  await give(page, "drop");
  await expect(page.locator("[data-part=drop-area]")).toHaveCount(0);
  await expect(pictures(page)).toHaveCount(2);
  const choosing = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Add images" }).click();
  await (await choosing).setFiles([file("chosen.png")]);
  await expect(pictures(page)).toHaveCount(3);
  await pictures(page).nth(0).getByRole("button", { name: "Remove paste.png" }).click();
  await expect(pictures(page)).toHaveCount(2);
  await expect(message(page)).toBeFocused();

  await pictures(page).getByRole("button", { name: "Open chosen.png" }).click();
  const large = page.getByRole("dialog", { name: "chosen.png" });
  await expect(large.getByRole("img")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(large).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Open chosen.png" })).toBeFocused();

  const posted = page.waitForRequest("**/api/chat/stream");
  await ask(page, "What is on these?");
  const [said] = (await posted).postDataJSON().messages;
  expect(said.content.map(({ type }: { type: string }) => type)).toEqual(["text", "image_url", "image_url"]);
  expect(said.content[1].image_url.url).toBe(`data:image/png;base64,${PNG}`);
  await ended(page);
  await expect(pictures(page)).toHaveCount(0);
  await page.reload();
  await expect(page.locator("[data-part=question] [data-part=picture] img")).toHaveCount(2);
});

test("a file that is no image is rejected by name", async ({ page }) => {
  await page
    .locator("[data-part=picture-input]")
    .setInputFiles([
      { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("words") },
      { name: "broken.png", mimeType: "image/png", buffer: Buffer.from("words") },
      file("good.png"),
    ]);
  await expect(refusal(page)).toContainText(
    "notes.txt was not added: only PNG, JPEG, WebP and GIF images are supported.",
  );
  await expect(refusal(page)).toContainText("broken.png was not added: it is not a readable image.");
  await expect(pictures(page)).toHaveCount(1);
});

test("a model that cannot read images is detected before and after adding one", async ({ page }) => {
  await give(page, "paste");
  await expect(pictures(page)).toHaveCount(1);
  await useModel(page, "deepseek/deepseek-chat");
  await expect(refusal(page)).toContainText(/cannot read images\. Remove the images or choose another model\./);
  await message(page).fill("And now?");
  await expect(page.getByRole("button", { name: "Send" })).toBeDisabled();
  await pictures(page)
    .getByRole("button", { name: /^Remove/ })
    .click();
  await expect(page.getByRole("button", { name: "Send" })).toBeEnabled();
  await give(page, "paste");
  await expect(refusal(page)).toContainText("cannot read images.");
  await expect(pictures(page)).toHaveCount(0);
  // The button is disabled, and gives the reason when pressed.
  await page.getByRole("button", { name: "Add images" }).click({ force: true });
  await expect(refusal(page)).toContainText("cannot read images.");
  await give(page, "dragover");
  await expect(page.locator("[data-part=drop-area]")).toContainText("cannot read images.");
});

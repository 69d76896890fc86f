// The panel with files: previews while a page is written, its code, versions and edits.
import { ask, ended, expect, expectAccessible, type Page, test } from "./support/page.ts";

const panel = (page: Page) => page.locator("[data-part=files]");
const shown = (page: Page) => panel(page).frameLocator("iframe:not(.invisible)");
const tab = (page: Page, name: string) => panel(page).getByRole("tab", { name });
const conversation = (page: Page) => new URL(page.url()).hash.slice(3);
const address = (page: Page, path: string) => `/api/conversations/${conversation(page)}/files/${path}`;

/** Let the model build a page, and wait for its end. */
async function build(page: Page): Promise<void> {
  await page.setViewportSize({ width: 1400, height: 900 });
  await page.goto("/");
  await ask(page, "Build a landing page for a bakery called “Crumb”");
  await ended(page);
  await expect(panel(page)).toContainText("version 1");
}

/** Replace the page as the user, and show it. */
async function replacePage(page: Page, html: string): Promise<void> {
  const response = await page.request.put(address(page, "index.html"), { data: html });
  expect(response.ok()).toBe(true);
  await page.reload();
  await page.getByRole("button", { name: "Files" }).click();
  await expect(panel(page)).toContainText("version 2");
}

test("a page appears while it is written, and is complete at the end", async ({ page }) => {
  await page.setViewportSize({ width: 1400, height: 900 });
  await page.goto("/");
  await ask(page, "Build a landing page for a bakery called “Crumb”");
  await expect(panel(page)).toContainText("writing…");
  await expect(shown(page).getByRole("heading", { level: 1 })).toBeVisible();
  await expect(panel(page).locator("iframe:not(.invisible)")).toHaveAttribute("src", /mode=draft$/);
  await ended(page);
  await expect(panel(page)).toContainText("version 1");
  await expect(panel(page).locator("iframe")).toHaveCount(1);
  await expect(panel(page).locator("iframe")).toHaveAttribute("src", /preview-frame$/);
  await expect(shown(page).getByRole("heading", { level: 1, name: "Crumb" })).toBeVisible();
});

test("the code is shown, and the panel stays closed once it was closed", async ({ page }) => {
  await build(page);
  await tab(page, "Code").click();
  await expect(panel(page).locator("[data-part=code]")).toContainText("<!doctype html>");
  await expectAccessible(page);
  await panel(page).getByRole("button", { name: "Close files" }).click();
  await ask(page, "Make the heading blue");
  await ended(page);
  await expect(panel(page)).toHaveCount(0);
  await page.getByRole("button", { name: "Files" }).click();
  await expect(panel(page)).toContainText("version 2");
});

test("changes are shown by lines, and an old version is restored", async ({ page }) => {
  await build(page);
  await ask(page, "Make the heading blue");
  await ended(page);
  await expect(panel(page)).toContainText("version 2");
  await tab(page, "Changes").click();
  const lines = panel(page).getByRole("region", { name: "Changed lines" });
  await expect(lines).toContainText("added:");
  await expect(lines).toContainText("removed:");
  await expectAccessible(page);
  await panel(page).getByRole("combobox", { name: "Version" }).selectOption("1");
  await panel(page).getByRole("button", { name: "Restore this version" }).click();
  await expect(panel(page)).toContainText("Version 1 is restored.");
  await expect(panel(page).locator("[data-part=file-state]")).toHaveText("version 3");
});

test("the user edits a file, and decides about a conflict", async ({ page, faults }) => {
  faults.allow(/Failed to load resource/);
  await build(page);
  await tab(page, "Code").click();
  await panel(page).getByRole("button", { name: "Edit" }).click();
  await panel(page).getByRole("textbox").fill("<h1>Mine</h1>");
  await page.request.put(address(page, "index.html"), { data: "<h1>Theirs</h1>" });
  await panel(page).getByRole("button", { name: "Save", exact: true }).click();
  await expect(panel(page).getByRole("alert")).toContainText("has changed");
  await panel(page).getByRole("button", { name: "Save anyway" }).click();
  await expect(panel(page).locator("[data-part=file-state]")).toHaveText("version 3");
  await tab(page, "Preview").click();
  await expect(shown(page).getByRole("heading", { name: "Mine" })).toBeVisible();
});

test("an unsaved edit outlasts another tab, a closed panel and another conversation", async ({ page }) => {
  await build(page);
  const here = page.url();
  const state = panel(page).locator("[data-part=file-state]");
  const field = panel(page).getByRole("textbox");
  await tab(page, "Code").click();
  await panel(page).getByRole("button", { name: "Edit" }).click();
  await field.fill("<h1>Mine</h1>");
  await expect(state).toHaveText("version 1 · unsaved changes");
  await tab(page, "Preview").click();
  await tab(page, "Code").click();
  await expect(field).toHaveValue("<h1>Mine</h1>");
  await panel(page).getByRole("button", { name: "Close files" }).click();
  await page.goto("/#");
  await page.goto(here);
  await page.getByRole("button", { name: "Files" }).click();
  await tab(page, "Code").click();
  await expect(field).toHaveValue("<h1>Mine</h1>");
  const asked = page.waitForEvent("dialog");
  const reloaded = page.reload();
  expect((await asked).type()).toBe("beforeunload");
  await (await asked).accept();
  await reloaded;
});

test("a conversation that is deleted elsewhere while a file is written says so", async ({ page, faults }) => {
  faults.allow(/Failed to load resource/);
  await build(page);
  await ask(page, "Make the heading blue");
  await expect(page.getByRole("button", { name: "Stop" })).toBeVisible();
  await page.request.delete(`/api/conversations/${conversation(page)}`);
  const notice = page.getByRole("main").getByRole("alert").filter({ hasText: "deleted in another tab or browser" });
  await expect(notice).toBeVisible();
  await tab(page, "Changes").click();
  await expect(panel(page)).toContainText("This conversation was deleted in another tab or browser.");
});

test("files of a page are put together, and links to files are followed", async ({ page }) => {
  await build(page);
  const about = '<link rel="stylesheet" href="css/a.css"><h1>About</h1><p id="out"></p><script src="a.js"></script>';
  await page.request.put(address(page, "css/a.css"), { data: "h1{color:rgb(1, 2, 3)}" });
  await page.request.put(address(page, "a.js"), { data: "document.getElementById('out').textContent = 'it runs'" });
  await page.request.put(address(page, "about.html"), { data: about });
  await replacePage(page, '<a href="about.html">About us</a> <a href="https://example.org/x">Away</a>');
  await shown(page).getByText("Away").click();
  await expect(page.getByRole("dialog")).toContainText("https://example.org/x");
  await page.getByRole("button", { name: "Cancel" }).click();
  await shown(page).getByText("About us").click();
  await expect(shown(page).getByText("it runs")).toBeVisible();
  await expect(shown(page).getByRole("heading", { name: "About" })).toHaveCSS("color", "rgb(1, 2, 3)");
  await expect(panel(page).getByRole("combobox", { name: "File" })).toHaveValue("about.html");
});

test("errors of a page are in its console, and its forms work without being sent", async ({ page, faults }) => {
  faults.allow(/oops/);
  await build(page);
  const form =
    '<form onsubmit="event.preventDefault(); this.textContent = field.value"><input name="field"><button>Add</button></form>';
  await replacePage(page, `${form}<script>console.error("oops")</script>`);
  await panel(page).getByRole("button", { name: "Console" }).click();
  await expect(panel(page).getByRole("region", { name: "Console" })).toContainText("oops");
  await shown(page).getByRole("textbox").fill("milk");
  await shown(page).getByRole("textbox").press("Enter");
  await expect(shown(page).getByText("milk")).toBeVisible();
});

test("a page that hangs is reported, and can be loaded again", async ({ page }) => {
  await build(page);
  await replacePage(page, "<h1>Soon</h1><script>setTimeout(() => { for (;;); }, 500)</script>");
  const alert = panel(page).getByRole("alert");
  await expect(alert).toContainText("does not respond");
  await page.getByRole("textbox", { name: "Message" }).fill("The page is usable.");
  await alert.getByRole("button", { name: "Reload" }).click();
  await expect(shown(page).getByRole("heading", { name: "Soon" })).toBeVisible();
  await expect(alert).toHaveCount(0);
});

test("the files are printed and downloaded, and have a separate window and a sheet on a phone", async ({
  page,
  context,
}) => {
  await build(page);
  const more = panel(page).getByRole("button", { name: "More" });
  await more.click();
  const printed = page.waitForRequest(/mode=print$/);
  await page.getByRole("menuitem", { name: "Print the preview" }).click();
  await printed;
  await expect(panel(page).locator("iframe")).toHaveCount(1);
  await more.click();
  const downloaded = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: "Download all files" }).click();
  expect((await downloaded).suggestedFilename()).toBe("files.zip");
  const [other] = await Promise.all([
    context.waitForEvent("page"),
    panel(page).getByRole("button", { name: "Open in a new window" }).click(),
  ]);
  await expect(shown(other).getByRole("heading", { level: 1, name: "Crumb" })).toBeVisible();
  await other.close();
  await page.setViewportSize({ width: 390, height: 800 });
  await expect(page.getByRole("dialog", { name: "Files" })).toBeVisible();
  await expect(shown(page).getByRole("heading", { level: 1, name: "Crumb" })).toBeVisible();
  await expectAccessible(page);
});

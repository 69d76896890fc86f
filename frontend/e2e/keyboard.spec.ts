// The whole chat by keyboard: everything is reachable, the focus is visible, and closing restores it.
import { ask, ended, expect, message, type Page, response, stops, test, waitForText } from "./support/page.ts";

const SEARCH = "What is a run? Search for it.";

test.use({ viewport: { width: 1280, height: 800 }, permissions: ["clipboard-read", "clipboard-write"] });
test.beforeEach(({ page }) => page.goto("/"));

const press = (page: Page, ...keys: string[]) =>
  keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve());

/** The focused element by role or tag and name. It must be visible. */
async function focused(page: Page): Promise<string> {
  await expect
    .poll(() => page.evaluate(() => document.activeElement !== document.body && document.activeElement !== null))
    .toBe(true);
  return page.evaluate(() => {
    const element = document.activeElement as HTMLElement;
    const name = element.getAttribute("aria-label") ?? element.textContent?.trim().slice(0, 60) ?? "";
    return `${element.getAttribute("role") ?? element.tagName.toLowerCase()} ${name}`;
  });
}

/** Whether the focus is visible: by an outline or border of the element or its container. */
const isMarked = (page: Page) =>
  page.evaluate(() => {
    const element = document.activeElement as HTMLElement;
    const frames = [element, element.parentElement, element.closest("form > div, form")];
    const accent = getComputedStyle(document.documentElement).getPropertyValue("--accent") !== "";
    return frames.some((frame) => {
      if (!frame) return false;
      const { outlineStyle, outlineWidth } = getComputedStyle(frame);
      const own = outlineStyle !== "none" && Number.parseFloat(outlineWidth) > 0;
      return (
        own || (accent && frame.matches("form > div:has(textarea:focus-visible), form:has(textarea:focus-visible)"))
      );
    });
  });

/** Press Tab until this element has the focus. The focus must be visible at every step. */
async function tabTo(page: Page, wanted: RegExp, key = "Tab"): Promise<void> {
  const passed: string[] = [];
  for (let stop = 0; stop < 60; stop++) {
    await page.keyboard.press(key);
    const name = await focused(page);
    passed.push(name);
    expect(await isMarked(page), `${name} is marked`).toBe(true);
    if (wanted.test(name)) return;
  }
  throw new Error(`Never came to ${wanted}: ${passed.join(", ")}`);
}

async function pick(page: Page, model: string): Promise<void> {
  await page.keyboard.press("Control+;");
  await expect(page.getByRole("combobox", { name: "Model" })).toBeFocused();
  await page.keyboard.type(model);
  await page.keyboard.press("Enter");
  await expect(page.locator("[data-part=model]")).toHaveAttribute("title", model);
  await expect(page.getByRole("listbox")).toHaveCount(0);
  await expect.poll(() => focused(page)).toMatch(/^button Model: |^textarea Message$/);
}

test("sending, stopping, opening a panel, copying, retrying and switching versions work by keyboard", async ({
  page,
}) => {
  await expect(message(page)).toBeFocused();
  await page.keyboard.type(SEARCH);
  await page.keyboard.press("Enter");
  await expect(message(page)).toBeFocused();
  await ended(page);
  await tabTo(page, /^button Searched/, "Shift+Tab");
  const head = stops(page, "search").locator("button[aria-expanded]").first();
  const before = await head.getAttribute("aria-expanded");
  await page.keyboard.press("Enter");
  await expect(head).toHaveAttribute("aria-expanded", before === "true" ? "false" : "true");
  if (before === "true") await page.keyboard.press("Space");
  await tabTo(page, /^a /);
  await tabTo(page, /^button Copy$/);
  await page.keyboard.press("Enter");
  await expect(response(page).getByRole("button", { name: "Copied" })).toBeVisible();
  await tabTo(page, /^button Regenerate$/);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("group", { name: "Versions of the answer" })).toBeVisible();
  await ended(page);
  await press(page, "Shift+Escape");
  await expect(message(page)).toBeFocused();
  await tabTo(page, /^button Previous version$/, "Shift+Tab");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("group", { name: "Versions of the answer" })).toContainText(/^1\/ of 2/);
  expect(await focused(page)).toMatch(/version/);
  await press(page, "Shift+Escape");

  await page.keyboard.type("Give me much of it.");
  await pick(page, "openai/sim-long-3000");
  await press(page, "Shift+Escape", "Enter");
  await waitForText(page);
  await tabTo(page, /^button Stop$/);
  await page.keyboard.press("Enter");
  await ended(page, "cancelled");
  await expect(message(page)).toBeFocused();
});

test("ArrowUp edits the last message, and Escape and saving keep the focus", async ({ page }) => {
  await ask(page, "Hello there.");
  await ended(page);
  await page.keyboard.press("ArrowUp");
  const box = page.getByRole("textbox", { name: "Edit message" });
  await expect(box).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(box).toHaveCount(0);
  expect(await focused(page)).toMatch(/^button Edit$|^textarea Message$/);
  await press(page, "Shift+Escape", "ArrowUp");
  await box.fill("Hello again.");
  await page.keyboard.press("Control+Enter");
  await expect(message(page)).toBeFocused();
  await ended(page);
  await expect(page.getByRole("group", { name: "Versions of the message" })).toContainText(/^2\/ of 2/);
});

test("opening a panel moves the focus into it, and closing returns it", async ({ page }) => {
  await ask(page, SEARCH);
  await ended(page);
  const opens = async (way: RegExp, what: string, inside: RegExp) => {
    await press(page, "Shift+Escape");
    await expect(message(page)).toBeFocused();
    await tabTo(page, way, "Shift+Tab");
    await page.keyboard.press("Enter");
    await expect(page.locator(what)).toBeVisible();
    await expect.poll(() => focused(page)).toMatch(inside);
    await page.keyboard.press("Escape");
    await expect(page.locator(what)).toHaveCount(0);
    await expect.poll(() => focused(page)).toMatch(way);
  };
  await opens(/^button More$/, "[role=menu]", /^menu|^menuitem/);
  await opens(/^button More ways to copy$/, "[role=menu]", /^menu|^menuitem/);
  await opens(/^button Run details$/, "[data-part=inspector]", /Run details/);
  await opens(/^button Settings/, "[data-part=settings]", /./);
  await opens(/^button Model: /, "[role=listbox]", /^combobox Model$/);
});

test("every listed shortcut works", async ({ page }) => {
  await ask(page, SEARCH);
  await ended(page);
  await page.keyboard.press("Control+/");
  const sheet = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await expect(sheet).toBeVisible();
  const told = await sheet.getByRole("term").allTextContents();
  await page.keyboard.press("Escape");
  await expect(sheet).toHaveCount(0);
  await expect.poll(() => focused(page)).toBe("textarea Message");

  const does: Record<string, () => Promise<void>> = {
    "Search conversations": async () => {
      await page.keyboard.press("Control+k");
      await expect(page.getByRole("textbox", { name: "Search conversations" })).toBeFocused();
      await page.keyboard.press("ArrowDown");
      await expect(page.locator("[data-part=line] a").first()).toBeFocused();
      await page.keyboard.press("ArrowUp");
      await expect(page.getByRole("textbox", { name: "Search conversations" })).toBeFocused();
    },
    "Go to the message box": async () => {
      await page.keyboard.press("Shift+Escape");
      await expect(message(page)).toBeFocused();
    },
    // Here is one answer, so nothing happens. variants.spec.ts has several.
    "Show a variant of the last answer": async () => {
      await page.keyboard.press("Alt+2");
      await expect(message(page)).toBeFocused();
      await expect(message(page)).toHaveValue("");
    },
    "Choose model": async () => {
      await page.keyboard.press("Control+;");
      await expect(page.getByRole("combobox", { name: "Model" })).toBeFocused();
      await press(page, "ArrowDown", "Escape");
      await expect(page.getByRole("listbox")).toHaveCount(0);
      await focused(page);
    },
    "Show or hide the sidebar": async () => {
      await page.keyboard.press("Control+b");
      await expect(page.locator("[data-part=sidebar]")).toHaveCount(0);
      await page.keyboard.press("Control+b");
      await expect(page.locator("[data-part=sidebar]")).toBeVisible();
    },
    "Details of the last answer": async () => {
      await page.keyboard.press("Control+i");
      await expect(page.locator("[data-part=inspector]")).toBeVisible();
      await page.keyboard.press("Control+i");
      await expect(page.locator("[data-part=inspector]")).toHaveCount(0);
      await focused(page);
    },
    "Copy the last answer": async () => {
      await page.keyboard.press("Control+Shift+l");
      await expect(page.getByText("Copied.")).toBeVisible();
      expect((await page.evaluate(() => navigator.clipboard.readText())).length).toBeGreaterThan(100);
    },
    "Show keyboard shortcuts": async () => {
      await page.locator("main").focus();
      await page.keyboard.type("?");
      await expect(sheet).toBeVisible();
      await page.keyboard.press("Escape");
      await expect(sheet).toHaveCount(0);
    },
    "New line": async () => {
      await press(page, "Shift+Escape", "Shift+Enter");
      await page.keyboard.type("second");
      await expect(message(page)).toHaveValue("\nsecond");
      await message(page).fill("");
    },
    "Edit your last message (when the message box is empty)": async () => {
      await press(page, "Shift+Escape", "ArrowUp");
      await expect(page.getByRole("textbox", { name: "Edit message" })).toBeFocused();
    },
    "Send, or save an edited message": async () => {
      await page.keyboard.type(" Please.");
      await page.keyboard.press("Control+Enter");
      await expect(page.getByRole("group", { name: "Versions of the message" })).toBeVisible();
      await ended(page);
    },
    "Send, or queue while an answer is running": async () => {
      await pick(page, "openai/sim-long-3000");
      await press(page, "Shift+Escape");
      await page.keyboard.type("A long one.");
      await page.keyboard.press("Enter");
      await expect(page.locator("[data-part=running]")).toBeVisible();
      await waitForText(page);
      await page.keyboard.type("And then?");
      await page.keyboard.press("Enter");
      await expect(page.locator("[data-part=queue]")).toContainText("And then?");
    },
    "Stop the answer or close a dialog": async () => {
      await page.keyboard.press("Escape");
      await ended(page, "cancelled");
      await expect(message(page)).toBeFocused();
    },
    "New chat": async () => {
      await page.keyboard.press("Control+Shift+o");
      await expect(page.locator("[data-part=empty]")).toBeVisible();
      await expect(message(page)).toBeFocused();
    },
  };
  expect(told.toSorted()).toEqual([...Object.keys(does), "Show keyboard shortcuts"].filter(unique).toSorted());
  for (const [name, act] of Object.entries(does)) await test.step(name, act);
});

const unique = <Value>(value: Value, at: number, all: readonly Value[]) => all.indexOf(value) === at;

test("the list of conversations is navigated, renamed and cleared by keyboard", async ({ page }) => {
  await ask(page, "Keys one, hello.");
  await ended(page);
  await page.keyboard.press("Control+Shift+o");
  await ask(page, "Keys two, hello.");
  await ended(page);
  await page.keyboard.press("Control+k");
  await expect(page.getByRole("textbox", { name: "Search conversations" })).toBeFocused();
  await page.keyboard.press("ArrowDown");
  await expect.poll(() => focused(page)).toMatch(/^a Keys two/);
  await page.keyboard.press("ArrowDown");
  await expect.poll(() => focused(page)).toMatch(/^a Keys one/);
  await page.keyboard.press("Enter");
  await expect(page.locator("[data-part=question]")).toContainText("Keys one");
  await focused(page);
  await page.keyboard.press("Control+k");
  await expect(page.getByRole("textbox", { name: "Search conversations" })).toBeFocused();
  await press(page, "ArrowDown", "F2");
  await expect(page.getByRole("textbox", { name: "Title" })).toBeFocused();
  await page.keyboard.type("Keys renamed");
  await page.keyboard.press("Enter");
  await expect.poll(() => focused(page)).toMatch(/^a Keys renamed/);
  await page.keyboard.press("Delete");
  await expect(page.getByRole("dialog")).toContainText("Keys renamed");
  await expect.poll(() => focused(page)).toBe("button Delete");
  await page.keyboard.press("Escape");
  await expect.poll(() => focused(page)).toMatch(/^a Keys renamed/);
  await press(page, "Delete");
  await expect.poll(() => focused(page)).toBe("button Delete");
  await press(page, "Enter");
  await expect.poll(() => focused(page)).toMatch(/^a Keys one/);
  await expect(page.locator("[data-part=line]").filter({ hasText: "Keys renamed" })).toHaveCount(0);
});

test("the sidebar sheet of a narrow window returns the focus", async ({ page }) => {
  await page.setViewportSize({ width: 375, height: 720 });
  // The page has reacted to the new width.
  await expect(page.locator("[data-part=sidebar]")).toHaveCount(0);
  await page.keyboard.press("Control+b");
  await expect(page.locator("[data-part=sidebar]")).toBeVisible();
  await focused(page);
  await page.keyboard.press("Escape");
  await expect(page.locator("[data-part=sidebar]")).toHaveCount(0);
  await expect.poll(() => focused(page)).toMatch(/Message|Conversations/);
});

test("Ctrl+Enter sends like Enter, and is listed", async ({ page }) => {
  await page.goto("/");
  await message(page).fill("Hello.");
  await page.keyboard.press("Control+Enter");
  await ended(page);
  await expect(message(page)).toHaveValue("");
  await expect(page.locator("[data-part=question]")).toHaveText(/Hello\./);
  await page.keyboard.press("Control+/");
  const sheet = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await expect(sheet).toContainText("Send, or save an edited message");
});

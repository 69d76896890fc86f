import { describe, expect, it } from "vitest";
import { keyNames, SHORTCUT_NAMES, SHORTCUTS, type Stroke, shortcutOf, shortcutText } from "./shortcuts.ts";

const stroke = (key: string, more: Partial<Stroke> = {}): Stroke => ({
  key,
  code: "",
  ctrlKey: false,
  metaKey: false,
  shiftKey: false,
  altKey: false,
  ...more,
});
const here = { mac: false, typing: false, covered: false };

describe("a stroke", () => {
  it.each([
    ["k", { ctrlKey: true }, "search"],
    ["O", { ctrlKey: true, shiftKey: true }, "new"],
    [";", { ctrlKey: true }, "models"],
    ["b", { ctrlKey: true }, "sidebar"],
    ["i", { ctrlKey: true }, "inspect"],
    ["L", { ctrlKey: true, shiftKey: true }, "copy"],
    ["Escape", { shiftKey: true }, "focus"],
    ["Escape", {}, "stop"],
    ["/", { ctrlKey: true }, "shortcuts"],
    ["?", { shiftKey: true }, "shortcuts"],
  ] as const)("%s with %o asks for %s", (key, more, name) => {
    expect(shortcutOf(stroke(key, more), here)).toBe(name);
    expect(shortcutOf(stroke(key, { ...more, altKey: true }), here)).toBeUndefined();
  });

  it("uses ⌘ on a Mac, and leaves Ctrl to the field there", () => {
    expect(shortcutOf(stroke("k", { metaKey: true }), { ...here, mac: true })).toBe("search");
    expect(shortcutOf(stroke("k", { ctrlKey: true }), { ...here, mac: true })).toBeUndefined();
    expect(shortcutOf(stroke("k", { metaKey: true }), here)).toBeUndefined();
  });

  it("leaves letters to text fields, and handles other keys there", () => {
    const typing = { ...here, typing: true };
    expect(shortcutOf(stroke("?", { shiftKey: true }), typing)).toBeUndefined();
    expect(shortcutOf(stroke("k", { ctrlKey: true }), typing)).toBe("search");
    expect(shortcutOf(stroke("Escape"), typing)).toBe("stop");
  });

  it("works under a dialog only to open and close panels", () => {
    const covered = { ...here, covered: true };
    expect(SHORTCUT_NAMES.filter((name) => SHORTCUTS[name].over)).toEqual(["search", "models", "shortcuts"]);
    expect(shortcutOf(stroke("Escape"), covered)).toBeUndefined();
    expect(shortcutOf(stroke("O", { ctrlKey: true, shiftKey: true }), covered)).toBeUndefined();
    expect(shortcutOf(stroke("k", { ctrlKey: true }), covered)).toBe("search");
  });

  it("uses the physical key for other alphabets, and the letter for Latin ones", () => {
    expect(shortcutOf(stroke("л", { code: "KeyK", ctrlKey: true }), here)).toBe("search");
    expect(shortcutOf(stroke("k", { code: "KeyV", ctrlKey: true }), here)).toBe("search");
    expect(shortcutOf(stroke("v", { code: "KeyK", ctrlKey: true }), here)).toBeUndefined();
  });

  it("matches punctuation with and without Shift, as keyboards differ", () => {
    expect(shortcutOf(stroke("/", { ctrlKey: true, shiftKey: true }), here)).toBe("shortcuts");
    expect(shortcutOf(stroke(";", { ctrlKey: true, shiftKey: true }), here)).toBe("models");
  });
});

it("uses no keys that browsers reserve or that close, hide or inspect the page", () => {
  const taken = SHORTCUT_NAMES.flatMap((name) => SHORTCUTS[name].keys.map((keys) => keyNames(keys, false).join("+")));
  for (const kept of ["N", "T", "W", "M", "Q", "R", "L", "F", "P", "S", "Shift+I", "Shift+C", "Shift+J", "Shift+N"])
    expect(taken).not.toContain(`Ctrl+${kept}`);
  expect(new Set(taken).size).toBe(taken.length);
});

it("has key names that match the keyboard", () => {
  expect(shortcutText("new", false)).toBe("Ctrl+Shift+O");
  expect(shortcutText("new", true)).toBe("⌘⇧O");
  expect(shortcutText("focus", false)).toBe("Shift+Esc");
});

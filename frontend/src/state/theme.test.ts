// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it } from "vitest";
import { SETTINGS_KEY, Settings } from "./settings.ts";
import { followTheme, showTheme } from "./theme.ts";

const shown = () => document.documentElement.dataset.theme;
let leave = () => {};

beforeEach(() => localStorage.clear());
afterEach(() => {
  leave();
  leave = () => {};
  delete document.documentElement.dataset.theme;
});

it("applies the stored theme before the first render", () => {
  new Settings().change({ theme: "dark" });
  leave = followTheme();
  expect(shown()).toBe("dark");
});

it("follows the choice of another tab, and ignores other changes", () => {
  leave = followTheme();
  expect(shown()).toBeUndefined();
  new Settings().change({ theme: "light" });
  window.dispatchEvent(new StorageEvent("storage", { key: "something else" }));
  expect(shown()).toBeUndefined();
  window.dispatchEvent(new StorageEvent("storage", { key: SETTINGS_KEY }));
  expect(shown()).toBe("light");
  localStorage.clear();
  window.dispatchEvent(new StorageEvent("storage", { key: null }));
  expect(shown()).toBeUndefined();
});

it("follows the system if nothing is chosen", () => {
  showTheme("dark");
  showTheme("system");
  expect(shown()).toBeUndefined();
});

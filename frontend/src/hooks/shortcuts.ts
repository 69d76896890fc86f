// Listens for the page's shortcuts, and knows what kind of keyboard this is.
import { useEffect, useRef } from "react";
import { type ShortcutName, shortcutOf } from "../run/chat/shortcuts.ts";

/** What has no action now keeps the browser's own meaning. */
export type ShortcutActions = Readonly<Record<ShortcutName, (() => void) | undefined>>;

export const isMac = (): boolean => typeof navigator !== "undefined" && /Mac|iP(hone|ad|od)/.test(navigator.userAgent);

// Menus and lists find their items by letters that are typed.
const TYPING =
  'textarea, select, [contenteditable]:not([contenteditable="false"]), [role="textbox"], [role="combobox"], ' +
  '[role="menu"], [role="listbox"], ' +
  'input:not([type="button"], [type="checkbox"], [type="radio"], [type="range"], [type="submit"], [type="file"])';
const COVERS = ["dialog", "alertdialog", "menu", "listbox"].map((role) => `[role="${role}"]:not([hidden])`).join();

export function useShortcuts(actions: ShortcutActions): void {
  const current = useRef(actions);
  useEffect(() => {
    current.current = actions;
  });

  useEffect(() => {
    let covered = false;
    // Seen before anybody acts: a dialog that this very Escape closes was still open.
    const look = () => {
      covered = isCovered();
    };
    const act = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || event.repeat) return;
      const typing = event.target instanceof Element && event.target.closest(TYPING) !== null;
      const name = shortcutOf(event, { mac: isMac(), typing, covered });
      const action = name && current.current[name];
      if (!action) return;
      event.preventDefault();
      action();
    };
    window.addEventListener("keydown", look, { capture: true });
    window.addEventListener("keydown", act);
    return () => {
      window.removeEventListener("keydown", look, { capture: true });
      window.removeEventListener("keydown", act);
    };
  }, []);
}

/**
 * Something that waits for an answer lies over the page. A list that belongs to the page itself does not count, nor does
 * what is closed already and only fades.
 */
const isCovered = () =>
  [...document.querySelectorAll(COVERS)].some(
    (cover) => cover.closest("main, aside") === null && cover.closest("[data-closed]") === null,
  );

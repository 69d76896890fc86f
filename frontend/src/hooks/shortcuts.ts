// Listens for the page's shortcuts.
import { useEffect, useRef } from "react";
import { type ShortcutName, shortcutOf } from "../logic/chat/shortcuts.ts";

/** A shortcut without an action keeps its browser default. */
export type ShortcutActions = Readonly<Record<ShortcutName, (() => void) | undefined>>;

export const isMac = (): boolean => typeof navigator !== "undefined" && /Mac|iP(hone|ad|od)/.test(navigator.userAgent);

// Menus and lists use typed letters to find their items.
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
    // Checked in the capture phase, while a dialog that this Escape closes is still open.
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
 * Whether a dialog, menu or list covers the page. Lists that belong to the page and popups that are fading out do not
 * count.
 */
export const isCovered = (): boolean =>
  [...document.querySelectorAll(COVERS)].some(
    (cover) => cover.closest("main, aside") === null && cover.closest("[data-closed]") === null,
  );

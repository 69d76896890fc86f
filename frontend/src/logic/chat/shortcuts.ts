// The keyboard shortcuts: key combinations, actions, and their names on the user's keyboard.

export type ShortcutName =
  | "search"
  | "new"
  | "models"
  | "sidebar"
  | "inspect"
  | "copy"
  | "focus"
  | "stop"
  | "shortcuts";

/** The part of a key event that shortcuts use. */
export interface Stroke {
  key: string;
  code: string;
  ctrlKey: boolean;
  metaKey: boolean;
  shiftKey: boolean;
  altKey: boolean;
}

interface Keys {
  /** `KeyboardEvent.key`, with letters in lower case. */
  key: string;
  /** ⌘ on a Mac, Ctrl elsewhere. */
  mod?: true;
  shift?: true;
  /** ⌥ on a Mac. */
  alt?: true;
}

export interface Shortcut {
  /** The description in the list of shortcuts. */
  does: string;
  /** All combinations work. The first one is shown. */
  keys: readonly [Keys, ...Keys[]];
  /** The shortcut works even while a dialog or a menu is open. */
  over?: true;
}

/**
 * Browsers do not reserve any of these keys. Left out on purpose: Ctrl+M (⌘M hides the window), Ctrl+Shift+I and
 * Ctrl+Shift+C (developer tools), Ctrl+N, T and W (never sent to a page).
 */
export const SHORTCUTS: Readonly<Record<ShortcutName, Shortcut>> = {
  search: { does: "Search conversations", keys: [{ key: "k", mod: true }], over: true },
  new: { does: "New chat", keys: [{ key: "o", mod: true, shift: true }] },
  models: { does: "Choose model", keys: [{ key: ";", mod: true }], over: true },
  sidebar: { does: "Show or hide the sidebar", keys: [{ key: "b", mod: true }] },
  inspect: { does: "Details of the last answer", keys: [{ key: "i", mod: true }] },
  copy: { does: "Copy the last answer", keys: [{ key: "l", mod: true, shift: true }] },
  focus: { does: "Go to the message box", keys: [{ key: "Escape", shift: true }] },
  stop: { does: "Stop the answer or close a dialog", keys: [{ key: "Escape" }] },
  shortcuts: { does: "Show keyboard shortcuts", keys: [{ key: "/", mod: true }, { key: "?" }], over: true },
};

/** Its keys are handled where variants are shown, by their place on the keyboard. */
export const VARIANTS: { does: string; keys: Keys } = {
  ...{ does: "Show a variant of the last answer", keys: { key: "1–4", alt: true } },
};

/** Keys that the message box handles. They are in the list of shortcuts, but have no page-wide listener. */
export const WRITING: readonly { does: string; keys: Keys }[] = [
  { does: "Send, or queue while an answer is running", keys: { key: "Enter" } },
  { does: "New line", keys: { key: "Enter", shift: true } },
  { does: "Edit your last message (when the message box is empty)", keys: { key: "ArrowUp" } },
  { does: "Send, or save an edited message", keys: { key: "Enter", mod: true } },
];

export const SHORTCUT_NAMES = Object.keys(SHORTCUTS) as ShortcutName[];

export interface Where {
  mac: boolean;
  /** The focus is in a text field, or in a menu that searches by letters. */
  typing: boolean;
  /** A dialog or a menu covers the page. */
  covered: boolean;
}

/** The shortcut that matches a key press, if any. */
export function shortcutOf(stroke: Stroke, { mac, typing, covered }: Where): ShortcutName | undefined {
  return SHORTCUT_NAMES.find((name) => {
    const { keys, over } = SHORTCUTS[name];
    if (covered && !over) return false;
    return keys.some((wanted) => isLike(stroke, wanted, mac) && (wanted.mod || isNamed(wanted.key) || !typing));
  });
}

/** Keys that type no letter. */
const isNamed = (key: string) => key.length > 1;

function isLike(stroke: Stroke, wanted: Keys, mac: boolean): boolean {
  const mod = mac ? stroke.metaKey : stroke.ctrlKey;
  const other = mac ? stroke.ctrlKey : stroke.metaKey;
  // On Windows, AltGr is Ctrl+Alt and types letters.
  if (stroke.altKey || other || mod !== (wanted.mod ?? false)) return false;
  if (keyOf(stroke) !== wanted.key) return false;
  // Whether a punctuation key needs Shift depends on the keyboard. For letters and named keys, Shift makes a
  // difference.
  return isSign(wanted.key) || stroke.shiftKey === (wanted.shift ?? false);
}

const isSign = (key: string) => key.length === 1 && !/[a-z]/.test(key);

/** Cyrillic and Greek keyboards have no K, so the physical key counts. */
function keyOf({ key, code }: Stroke): string {
  const foreign = key.length === 1 && key > "\u007f";
  return foreign && code.startsWith("Key") ? code.slice(3).toLowerCase() : key.length === 1 ? key.toLowerCase() : key;
}

const NAMES: Readonly<Record<string, string>> = { Escape: "Esc", ArrowUp: "↑" };

/** ["Ctrl", "Shift", "O"], or ["⌘", "⇧", "O"] on a Mac. */
export const keyNames = ({ key, mod, shift, alt }: Keys, mac: boolean): readonly string[] => [
  ...(mod ? [mac ? "⌘" : "Ctrl"] : []),
  ...(alt ? [mac ? "⌥" : "Alt"] : []),
  ...(shift ? [mac ? "⇧" : "Shift"] : []),
  NAMES[key] ?? (key.length === 1 ? key.toUpperCase() : key),
];

/** "Ctrl+Shift+O", or "⌘⇧O" on a Mac: for tooltips. */
export const shortcutText = (name: ShortcutName, mac: boolean): string =>
  keyNames(SHORTCUTS[name].keys[0], mac).join(mac ? "" : "+");

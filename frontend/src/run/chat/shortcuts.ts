// The keys of the page: which stroke means what, and how it is called on this keyboard.

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

/** A key press, as far as shortcuts look at it. */
export interface Stroke {
  key: string;
  code: string;
  ctrlKey: boolean;
  metaKey: boolean;
  shiftKey: boolean;
  altKey: boolean;
}

interface Keys {
  /** As `KeyboardEvent.key` names it, letters in lower case. */
  key: string;
  /** ⌘ on a Mac, Ctrl elsewhere. */
  mod?: true;
  shift?: true;
}

export interface Shortcut {
  /** What it does, for the sheet. */
  does: string;
  /** The first is shown; all work. */
  keys: readonly [Keys, ...Keys[]];
  /** It opens or closes something over the page, so it works while something else is open there. */
  over?: true;
}

/**
 * None of these is a key that browsers keep for themselves. Left out on purpose: Ctrl+M (⌘M hides the window),
 * Ctrl+Shift+I and Ctrl+Shift+C (developer tools), Ctrl+N, T and W (never given to a page).
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

/** What the message box itself understands; they stand in the sheet and are not listened for page-wide. */
export const WRITING: readonly { does: string; keys: Keys }[] = [
  { does: "Send, or queue while an answer is running", keys: { key: "Enter" } },
  { does: "New line", keys: { key: "Enter", shift: true } },
  { does: "Edit your last message (when the message box is empty)", keys: { key: "ArrowUp" } },
  { does: "Send, or save an edited message", keys: { key: "Enter", mod: true } },
];

export const SHORTCUT_NAMES = Object.keys(SHORTCUTS) as ShortcutName[];

export interface Where {
  mac: boolean;
  /** The stroke goes to a field that takes letters, or to a menu that looks for them. */
  typing: boolean;
  /** Something lies over the page and waits for an answer. */
  covered: boolean;
}

/** What the stroke asks for, if anything. */
export function shortcutOf(stroke: Stroke, { mac, typing, covered }: Where): ShortcutName | undefined {
  return SHORTCUT_NAMES.find((name) => {
    const { keys, over } = SHORTCUTS[name];
    if (covered && !over) return false;
    return keys.some((wanted) => isLike(stroke, wanted, mac) && (wanted.mod || isNamed(wanted.key) || !typing));
  });
}

/** Keys that write no letter. */
const isNamed = (key: string) => key.length > 1;

function isLike(stroke: Stroke, wanted: Keys, mac: boolean): boolean {
  const mod = mac ? stroke.metaKey : stroke.ctrlKey;
  const other = mac ? stroke.ctrlKey : stroke.metaKey;
  // AltGr is Ctrl+Alt on Windows, and writes letters.
  if (stroke.altKey || other || mod !== (wanted.mod ?? false)) return false;
  if (keyOf(stroke) !== wanted.key) return false;
  // On some keyboards a sign needs Shift, on others it does not; letters and named keys are told apart by it.
  return isSign(wanted.key) || stroke.shiftKey === (wanted.shift ?? false);
}

const isSign = (key: string) => key.length === 1 && !/[a-z]/.test(key);

/** A Cyrillic or Greek keyboard has no K: there the place of the key counts. */
function keyOf({ key, code }: Stroke): string {
  const foreign = key.length === 1 && key > "\u007f";
  return foreign && code.startsWith("Key") ? code.slice(3).toLowerCase() : key.length === 1 ? key.toLowerCase() : key;
}

const NAMES: Readonly<Record<string, string>> = { Escape: "Esc", ArrowUp: "↑" };

/** ["Ctrl", "Shift", "O"], or ["⌘", "⇧", "O"] on a Mac. */
export const keyNames = ({ key, mod, shift }: Keys, mac: boolean): readonly string[] => [
  ...(mod ? [mac ? "⌘" : "Ctrl"] : []),
  ...(shift ? [mac ? "⇧" : "Shift"] : []),
  NAMES[key] ?? (key.length === 1 ? key.toUpperCase() : key),
];

/** "Ctrl+Shift+O", or "⌘⇧O" on a Mac: for a tip beside the button that does the same. */
export const shortcutWords = (name: ShortcutName, mac: boolean): string =>
  keyNames(SHORTCUTS[name].keys[0], mac).join(mac ? "" : "+");

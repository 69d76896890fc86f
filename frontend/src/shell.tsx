// Prerenders the chat page at build time. Only its message box can be used; the page takes over the text
// (state/earlyText.ts). React replaces the prerendered page as soon as it has rendered.
import { renderToStaticMarkup } from "react-dom/server";
import { App } from "./App.tsx";
import { NARROW } from "./hooks/mediaQuery.ts";

// Removes ids and labels, so that selectors do not find two elements, and style attributes, which the content security
// policy forbids.
const NAMES =
  / (?:id|for|style|autofocus|title|tabindex|data-part|aria-(?:label|labelledby|describedby|controls))="[^"]*"/gi;

/** Interactive elements other than the message box. */
const CONTROLS = /<(?=(?:a|button|input|label|select|summary)\b)([a-z]+)/g;

/** One version for windows with a sidebar and one for windows without. */
export const shell = (): string => `${drawn("wide")}${drawn("narrow")}`;

// `autocomplete` is off because the browser would restore the last draft, which the page does itself. A narrow window
// has no autofocus, which would open the phone's keyboard.
const WRITABLE = 'aria-label="Message" autocomplete="off"';
const BOX = { wide: `${WRITABLE} autofocus`, narrow: WRITABLE };

function drawn(width: "wide" | "narrow"): string {
  return withWindow(width, () => {
    const page = renderToStaticMarkup(<App />)
      .replaceAll(NAMES, "")
      .replaceAll(CONTROLS, "<$1 inert")
      .replaceAll("<textarea", `<textarea ${BOX[width]}`);
    return `<div data-shell="${width}">${page}</div>`;
  });
}

/** Emulate the window's width while rendering. */
function withWindow<Result>(width: "wide" | "narrow", draw: () => Result): Result {
  const matchMedia = (query: string) => ({ matches: width === "narrow" && query === NARROW });
  Object.defineProperty(globalThis, "window", { value: { matchMedia }, configurable: true });
  try {
    return draw();
  } finally {
    Reflect.deleteProperty(globalThis, "window");
  }
}

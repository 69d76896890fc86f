// The chat as it looks before its scripts run: the page itself, drawn while it is built. Nothing of it can be used but the
// message box, whose text the page takes over (state/earlyText.ts). It goes as soon as React has drawn the same.
import { renderToStaticMarkup } from "react-dom/server";
import { App } from "./App.tsx";
import { NARROW } from "./hooks/mediaQuery.ts";

// No second element may be found under a name of the page, and the content policy knows no style attributes.
const NAMES =
  / (?:id|for|style|autofocus|title|tabindex|data-part|aria-(?:label|labelledby|describedby|controls))="[^"]*"/gi;

/** All that could be pressed or written into, beside the message box. */
const CONTROLS = /<(?=(?:a|button|input|label|select|summary)\b)([a-z]+)/g;

/** For windows with the list of conversations beside the chat, and for those without. */
export const shell = (): string => `${drawn("wide")}${drawn("narrow")}`;

// A browser would put the draft of the last visit into it, which the page does itself. On a phone the focus would bring the
// keyboard, which covers half of the window.
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

/** The page asks its window for the width while it is drawn. */
function withWindow<Result>(width: "wide" | "narrow", draw: () => Result): Result {
  const matchMedia = (query: string) => ({ matches: width === "narrow" && query === NARROW });
  Object.defineProperty(globalThis, "window", { value: { matchMedia }, configurable: true });
  try {
    return draw();
  } finally {
    Reflect.deleteProperty(globalThis, "window");
  }
}

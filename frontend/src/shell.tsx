// The chat as it looks before its scripts run: the page itself, drawn while it is built. It cannot be used, and goes as
// soon as React has drawn the same.
import { renderToStaticMarkup } from "react-dom/server";
import { App } from "./App.tsx";
import { NARROW } from "./hooks/media.ts";

// No second element may be found under a name of the page, and the content policy knows no style attributes.
const NAMES =
  / (?:id|for|style|autofocus|title|tabindex|data-part|aria-(?:label|labelledby|describedby|controls))="[^"]*"/gi;

/** For windows with the list of conversations beside the chat, and for those without. */
export const shell = (): string => `${drawn("wide")}${drawn("narrow")}`;

function drawn(width: "wide" | "narrow"): string {
  return withWindow(width, () => {
    const page = renderToStaticMarkup(<App />).replaceAll(NAMES, "");
    return `<div data-shell="${width}" aria-hidden="true" inert>${page}</div>`;
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

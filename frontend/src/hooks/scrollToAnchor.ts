// The place that the address names: the browser looked for it before the text was there, so the page does.
import { useEffect } from "react";

/** As long as colours and fonts may come and move the text. */
const SETTLES_MS = 3000;
/** With one of these the reader leaves the place. */
const LEAVING = ["wheel", "touchstart", "pointerdown", "keydown", "hashchange"] as const;

/** Go there once the text is there, and stay while what is above it still grows. */
export function useAnchor(isThere: boolean): void {
  useEffect(() => {
    if (isThere && location.hash) return stayAt(location.hash);
  }, [isThere]);
}

function stayAt(hash: string): (() => void) | undefined {
  // Marks it as the target as well.
  location.replace(hash);
  const target = document.getElementById(decodeURIComponent(hash.slice(1)));
  const page = target?.closest("main");
  if (!target || !page) return undefined;

  const observer = new ResizeObserver(() => target.scrollIntoView());
  observer.observe(page);
  const leave = () => {
    observer.disconnect();
    clearTimeout(timer);
    for (const name of LEAVING) window.removeEventListener(name, leave);
  };
  const timer = setTimeout(leave, SETTLES_MS);
  // The jump itself tells of no change of the hash; a click on another anchor does.
  for (const name of LEAVING) window.addEventListener(name, leave, { passive: true });
  return leave;
}

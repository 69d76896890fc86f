// Scrolls to the anchor in the address. The browser looked for it before the content was loaded.
import { useEffect } from "react";

/** How long highlighting and fonts may still move the content. */
const SETTLES_MS = 3000;
/** With these events, the user leaves the anchor. */
const LEAVING = ["wheel", "touchstart", "pointerdown", "keydown", "hashchange"] as const;

/** Scroll to the anchor once the content is loaded, and stay there while the content above still changes height. */
export function useScrollToAnchor(isThere: boolean): void {
  useEffect(() => {
    if (isThere && location.hash) return stayAt(location.hash);
  }, [isThere]);
}

function stayAt(hash: string): (() => void) | undefined {
  // Also marks the element as `:target`.
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
  // Added after the jump, so the jump's own hashchange does not end it.
  for (const name of LEAVING) window.addEventListener(name, leave, { passive: true });
  return leave;
}

// Scrolls a list to a row when it opens, until the user scrolls.
import { type RefObject, useLayoutEffect } from "react";

/** Events that show that the user scrolls. */
const TAKING_OVER = ["wheel", "touchstart", "pointerdown"] as const;

/** Centre the row now and whenever `occasion` changes. The list is resized late, when its popup has been positioned. */
export function useInitialScroll(box: RefObject<HTMLElement | null>, rowId: string, occasion: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new occasion centres the same row again.
  useLayoutEffect(() => {
    const list = box.current;
    if (!list) return;
    const centre = () => {
      const row = document.getElementById(rowId);
      if (row) list.scrollTop = row.offsetTop - (list.clientHeight - row.offsetHeight) / 2;
    };
    centre();
    if (typeof ResizeObserver === "undefined") return;
    const sizes = new ResizeObserver(centre);
    sizes.observe(list);
    const leave = () => {
      sizes.disconnect();
      for (const name of TAKING_OVER) list.removeEventListener(name, leave);
    };
    for (const name of TAKING_OVER) list.addEventListener(name, leave, { passive: true });
    return leave;
  }, [box, rowId, occasion]);
}

// Where a list stands when it opens: a row in the middle of its box, until the reader scrolls.
import { type RefObject, useLayoutEffect } from "react";

/** Signs that the reader has taken over. */
const TAKING_OVER = ["wheel", "touchstart", "pointerdown"] as const;

/** Centre the row now and for each new `occasion`. The box gets its height late, when its popup has found its place. */
export function useOpensAt(box: RefObject<HTMLElement | null>, rowId: string, occasion: string): void {
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

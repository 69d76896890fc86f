// Scrolls columns horizontally together with their heads, and reports whether there are more on either side.
import { type RefObject, useEffect, useRef, useState } from "react";

interface HorizontalScroll {
  heads: RefObject<HTMLDivElement | null>;
  body: RefObject<HTMLElement | null>;
  /** Columns that are out of sight. */
  more: { before: boolean; after: boolean };
  /** Scroll by one column. */
  step: (by: 1 | -1) => void;
  /** Bring one column into view. */
  show: (index: number) => void;
}

/** A head with less visible width than this is hidden. It could not be read behind the faded edge. */
const LEAST_HEAD_PX = 128;
/** Tolerance for rounding at either end. */
const NEAR_PX = 2;

export function useHorizontalScroll(): HorizontalScroll {
  const heads = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLElement>(null);
  const [more, setMore] = useState({ before: false, after: false });

  useEffect(() => {
    const box = body.current;
    if (!box) return;
    const look = () => {
      if (heads.current) follow(heads.current, box);
      // In right-to-left text, offsets are negative.
      const before = Math.abs(box.scrollLeft);
      const next = {
        before: before > NEAR_PX,
        after: box.scrollWidth - box.clientWidth - before > NEAR_PX,
      };
      setMore((known) => (known.before === next.before && known.after === next.after ? known : next));
    };
    const sizes = new ResizeObserver(look);
    sizes.observe(box);
    if (box.firstElementChild) sizes.observe(box.firstElementChild);
    box.addEventListener("scroll", look, { passive: true });
    return () => {
      sizes.disconnect();
      box.removeEventListener("scroll", look);
    };
  }, []);

  const columns = () => [...(body.current?.querySelectorAll("[data-part=column]") ?? [])];
  const step = (by: 1 | -1) => {
    const width = columns()[0]?.getBoundingClientRect().width ?? 0;
    const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
    body.current?.scrollBy({ left: by * width, behavior: isStill ? "instant" : "smooth" });
  };
  const show = (index: number) => columns()[index]?.scrollIntoView({ inline: "nearest", block: "nearest" });
  return { heads, body, more, step, show };
}

/** Moves the heads above their columns, and hides heads that are almost out of sight. */
function follow(heads: HTMLElement, box: HTMLElement): void {
  heads.scrollLeft = box.scrollLeft;
  const edges = heads.getBoundingClientRect();
  for (const head of heads.children) {
    const { left, right } = head.getBoundingClientRect();
    const shown = Math.min(right, edges.right) - Math.max(left, edges.left);
    head.toggleAttribute("data-cut", shown < LEAST_HEAD_PX);
  }
}

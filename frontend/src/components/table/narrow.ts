// Whether a box is narrow, like the style prefix `@max-lg:`.
import { type RefCallback, useCallback, useState } from "react";

const NARROW_REM = 32;

/** `isNarrow` is undefined until the box is mounted, and known before its first paint. */
export function useNarrow(): { box: RefCallback<HTMLElement>; isNarrow: boolean | undefined } {
  const [isNarrow, setNarrow] = useState<boolean>();
  const box = useCallback((element: HTMLElement | null) => {
    if (!element) return;
    const measure = () => {
      const width = element.clientWidth;
      // A hidden box has no width. It keeps its form.
      setNarrow((before) => (width === 0 ? (before ?? false) : width < NARROW_REM * rem()));
    };
    measure();
    if (typeof ResizeObserver === "undefined") return;
    const sizes = new ResizeObserver(measure);
    sizes.observe(element);
    return () => sizes.disconnect();
  }, []);
  return { box, isNarrow };
}

const rem = (): number => Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;

// Evaluates a media query.
import { useCallback, useSyncExternalStore } from "react";

/** A phone, like the style prefix `narrow:`. */
export const NARROW = "(width < 768px)";
/** A wide window, like the style prefix `wide:`. */
export const WIDE = "(width >= 1200px)";

const find = (query: string): MediaQueryList | undefined =>
  typeof window.matchMedia === "function" ? window.matchMedia(query) : undefined;

export function useMediaQuery(query: string): boolean {
  const subscribe = useCallback(
    (onChange: () => void) => {
      const list = find(query);
      list?.addEventListener("change", onChange);
      return () => list?.removeEventListener("change", onChange);
    },
    [query],
  );
  const matches = () => find(query)?.matches ?? false;
  return useSyncExternalStore(subscribe, matches, matches);
}

// Which panels are opened automatically now, also when only time passes.
import { useEffect, useReducer } from "react";
import { panelsOf } from "../run/answer/openPanels.ts";
import type { Stop } from "../run/answer/stops.ts";
import type { RunTrace } from "../types/models.ts";

/** `reasonedAt`: when the last reasoning came, by the page's clock; undefined for what is over. */
export function useOpenPanels(
  trace: RunTrace,
  stops: readonly Stop[],
  reasonedAt: number | undefined,
): ReadonlySet<string> {
  const [, look] = useReducer((looks: number) => looks + 1, 0);
  const silent = reasonedAt === undefined ? Infinity : performance.now() - reasonedAt;
  const { open, again } = panelsOf(trace, silent, stops);
  useEffect(() => {
    if (again === undefined) return;
    const timer = setTimeout(look, Math.ceil(again));
    return () => clearTimeout(timer);
  }, [again]);
  return open;
}

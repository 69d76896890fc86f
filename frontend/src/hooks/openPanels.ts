// The panels that are open automatically, updated on events and after delays.
import { useEffect, useReducer } from "react";
import { panelsOf } from "../logic/answer/openPanels.ts";
import type { Stop } from "../logic/answer/stops.ts";
import type { RunTrace } from "../types/models.ts";

/** `reasonedAt` is when the last reasoning arrived, by the page's clock. Undefined for a finished run. */
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

// The seconds that have passed since something began.
import { useEffect, useReducer } from "react";

const TICK_MS = 500;
/** Shorter waits show no number. */
const QUIET_S = 2;

/** `since` is in milliseconds of the page's clock. */
export function Seconds({ since }: { since: number }) {
  const [, tick] = useReducer((ticks: number) => ticks + 1, 0);
  useEffect(() => {
    const timer = setInterval(tick, TICK_MS);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.floor((performance.now() - since) / 1000);
  return seconds < QUIET_S ? null : <span className="text-dim"> · {seconds} s</span>;
}

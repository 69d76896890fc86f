// Small hooks of the page: time that passes, and words that go by themselves.
import { useEffect, useState } from "react";

/** Whole seconds since then, while it runs; `performance.now()` times. */
export function useSeconds(since: number, running: boolean): number {
  const passed = () => Math.floor((performance.now() - since) / 1000);
  const [seconds, setSeconds] = useState(passed);
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(() => setSeconds(Math.floor((performance.now() - since) / 1000)), 500);
    return () => clearInterval(timer);
  }, [since, running]);
  return seconds;
}

/** A word on what was just done; it goes by itself. */
export function useSaid(ms = 1500): [said: string | undefined, say: (words: string) => void] {
  const [said, say] = useState<string>();
  useEffect(() => {
    if (said === undefined) return;
    const timer = setTimeout(() => say(undefined), ms);
    return () => clearTimeout(timer);
  }, [said, ms]);
  return [said, say];
}

// Small hooks of the page: time that passes, and a choice the browser remembers.
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

/** A choice that the browser keeps. Where it keeps nothing (private windows), the page still works. */
export function useRemembered(key: string, fallback: string): [string, (value: string) => void] {
  const [value, setValue] = useState(() => {
    try {
      return localStorage.getItem(key) ?? fallback;
    } catch {
      return fallback;
    }
  });
  const remember = (next: string) => {
    setValue(next);
    try {
      localStorage.setItem(key, next);
    } catch {
      return;
    }
  };
  return [value, remember];
}

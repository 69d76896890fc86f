// Small hooks of the page: time that passes, a choice the browser remembers, and scrolling along.
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

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

const NEAR_PX = 96;

/** Follow the end of what grows, but only while the reader is there (quirk H4). */
export function useFollow(ref: RefObject<HTMLElement | null>, grown: unknown): { away: boolean; jump: () => void } {
  const following = useRef(true);
  const [away, setAway] = useState(false);

  useEffect(() => {
    const box = ref.current;
    if (!box) return;
    const onScroll = () => {
      following.current = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_PX;
      setAway(!following.current);
    };
    const onWheel = (event: WheelEvent) => {
      if (event.deltaY < 0 && box.scrollHeight > box.clientHeight) following.current = false;
    };
    box.addEventListener("scroll", onScroll, { passive: true });
    box.addEventListener("wheel", onWheel, { passive: true });
    return () => {
      box.removeEventListener("scroll", onScroll);
      box.removeEventListener("wheel", onWheel);
    };
  }, [ref]);

  const jump = useCallback(() => {
    following.current = true;
    setAway(false);
    ref.current?.scrollTo({ top: ref.current.scrollHeight });
  }, [ref]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: `grown` says that there is more to follow.
  useLayoutEffect(() => {
    if (following.current) ref.current?.scrollTo({ top: ref.current.scrollHeight });
  }, [ref, grown]);

  return { away, jump };
}

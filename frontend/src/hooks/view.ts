// A small hook of the page: words that go by themselves.
import { useEffect, useState } from "react";

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

// A small hook of the page: a message that disappears after a while.
import { useEffect, useState } from "react";

/** A short message on what was just done; it disappears after a while. */
export function useSaid(ms = 1500): [said: string | undefined, say: (words: string) => void] {
  const [said, say] = useState<string>();
  useEffect(() => {
    if (said === undefined) return;
    const timer = setTimeout(() => say(undefined), ms);
    return () => clearTimeout(timer);
  }, [said, ms]);
  return [said, say];
}

// A short-lived message, for example after copying.
import { useEffect, useState } from "react";

/** Returns the message and a function that sets it. The message disappears after `ms` milliseconds. */
export function useTemporaryMessage(ms = 1500): [said: string | undefined, say: (words: string) => void] {
  const [said, say] = useState<string>();
  useEffect(() => {
    if (said === undefined) return;
    const timer = setTimeout(() => say(undefined), ms);
    return () => clearTimeout(timer);
  }, [said, ms]);
  return [said, say];
}

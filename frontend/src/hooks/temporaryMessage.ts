// A short-lived message, for example after copying.
import { useEffect, useState } from "react";

/** Returns the message and a function that sets it. The message disappears after `ms` milliseconds. */
export function useTemporaryMessage(ms = 1500): [message: string | undefined, setMessage: (message: string) => void] {
  const [message, setMessage] = useState<string>();
  useEffect(() => {
    if (message === undefined) return;
    const timer = setTimeout(() => setMessage(undefined), ms);
    return () => clearTimeout(timer);
  }, [message, ms]);
  return [message, setMessage];
}

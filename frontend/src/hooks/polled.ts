// Loads a value now and every few seconds, while the page is visible.
import { useCallback, useEffect, useState } from "react";

export interface Polled<Value> {
  /** Undefined until it is loaded. A failed load keeps the last value. */
  value: Value | undefined;
  /** Why the value may be outdated. */
  trouble: string | undefined;
  /** The value is that of another `load`, or there is none yet. */
  isLoading: boolean;
  reload: () => void;
}

/** `load` has to stay the same function as long as it loads the same. */
export function usePolled<Value>(load: () => Promise<Value>, everyMs: number): Polled<Value> {
  const [value, setValue] = useState<Value>();
  const [trouble, setTrouble] = useState<string>();
  const [loaded, setLoaded] = useState<() => Promise<Value>>();
  const [round, setRound] = useState(0);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new round loads again.
  useEffect(() => {
    let isCurrent = true;
    const look = async () => {
      try {
        const fresh = await load();
        if (!isCurrent) return;
        setValue(() => fresh);
        setTrouble(undefined);
      } catch (error) {
        if (!isCurrent) return;
        setTrouble(error instanceof Error ? error.message : String(error));
      }
      setLoaded(() => load);
    };
    void look();
    const timer = setInterval(() => !document.hidden && void look(), everyMs);
    return () => {
      isCurrent = false;
      clearInterval(timer);
    };
  }, [load, everyMs, round]);

  const reload = useCallback(() => setRound((before) => before + 1), []);
  return { value, trouble, isLoading: loaded !== load, reload };
}

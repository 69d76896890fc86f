// Waiting: for a time, for the browser's network, never longer than anybody wants to.

/** What the page knows of its browser. */
export interface Page {
  /** It is not visible now. */
  isHidden(): boolean;
  /** The browser itself says that it has no network. */
  isOffline(): boolean;
  /** Be told when the network is back; returns how to be told no more. */
  onOnline(tell: () => void): () => void;
}

export const browserPage: Page = {
  isHidden: () => typeof document !== "undefined" && document.hidden,
  isOffline: () => typeof navigator !== "undefined" && navigator.onLine === false,
  onOnline(tell) {
    if (typeof window === "undefined") return () => undefined;
    window.addEventListener("online", tell);
    return () => window.removeEventListener("online", tell);
  },
};

/** Rejects with the signal's reason when it aborts; with a page it ends as soon as the network is back. */
export function sleep(ms: number, signal: AbortSignal, page?: Page): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const end = (settle: () => void) => () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      leave?.();
      settle();
    };
    const onAbort = end(() => reject(signal.reason));
    const onEnd = end(resolve);
    const timer = setTimeout(onEnd, ms);
    signal.addEventListener("abort", onAbort, { once: true });
    const leave = page?.onOnline(onEnd);
  });
}

/** The promise's value, or undefined when it takes longer than that. */
export async function withTimeout<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

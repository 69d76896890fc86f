// Sleeping, with an early end when the network returns, and timeouts.

/** The state of the browser's page. */
export interface Page {
  /** The page is not visible. */
  isHidden(): boolean;
  /** The browser reports that it is offline. */
  isOffline(): boolean;
  /** Listen for the return of the network. The result removes the listener. */
  onOnline(onReturn: () => void): () => void;
}

export const browserPage: Page = {
  isHidden: () => typeof document !== "undefined" && document.hidden,
  isOffline: () => typeof navigator !== "undefined" && navigator.onLine === false,
  onOnline(onReturn) {
    if (typeof window === "undefined") return () => undefined;
    window.addEventListener("online", onReturn);
    return () => window.removeEventListener("online", onReturn);
  },
};

/** Rejects with the signal's reason if it aborts. With a page, ends early when the network returns. */
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

/** Resolves to the promise's value, or to undefined after `ms` milliseconds. */
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

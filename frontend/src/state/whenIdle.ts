// For what can wait: it must not take the line or the processor from what the reader waits for.

/** Do this when the browser has nothing else to do. Safari cannot tell, and gets a moment. */
export function whenIdle(work: () => void): void {
  if (typeof requestIdleCallback === "function") requestIdleCallback(work);
  else setTimeout(work, 200);
}

// Defers work that would compete with what the user is waiting for.

/** Run when the browser is idle. Safari has no idle callback, so it uses a short delay. */
export function whenIdle(work: () => void): void {
  if (typeof requestIdleCallback === "function") requestIdleCallback(work);
  else setTimeout(work, 200);
}

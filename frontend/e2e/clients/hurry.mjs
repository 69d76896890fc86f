// Both clients wait for seconds before they reconnect, with no option to change that.

export function hurry() {
  const wait = globalThis.setTimeout;
  globalThis.setTimeout = (work, ms, ...given) => wait(work, Math.min(ms, 5), ...given);
}

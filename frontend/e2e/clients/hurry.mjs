// Both clients wait seconds before they come back, and neither lets itself be told not to.

export function hurry() {
  const wait = globalThis.setTimeout;
  globalThis.setTimeout = (work, ms, ...given) => wait(work, Math.min(ms, 5), ...given);
}

/** Runs before every test file: long timeouts, so that tests do not fail on a busy machine. */
if (typeof document !== "undefined") {
  const { configure } = await import("@testing-library/react");
  configure({ asyncUtilTimeout: 30_000 });
}

export {};

/** Before every test file: what is waited for in vain is found out late, so that a busy machine fails nothing. */
if (typeof document !== "undefined") {
  const { configure } = await import("@testing-library/react");
  configure({ asyncUtilTimeout: 30_000 });
}

export {};

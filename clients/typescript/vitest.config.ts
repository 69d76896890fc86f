import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["tests/**/*.test.ts"],
    // These tests share no state, and a process for each file costs a third of a second.
    isolate: false,
    // For what hangs. A busy machine was seen to take ten times as long as a quiet one.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 60_000,
  },
});

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "@playwright/test";

/** The server under test; without one, the scripted stand-in plays the built page. */
const url = process.env.SIGNALBOX_URL ?? "http://127.0.0.1:8098";

// A home of its own: the system's browser must not find or leave anything in the user's.
const home = mkdtempSync(join(tmpdir(), "signalbox-e2e-"));

export default defineConfig({
  testDir: "e2e",
  timeout: 45_000,
  expect: { timeout: 15_000 },
  workers: 1,
  forbidOnly: process.env.CI === "true",
  reporter: [["list"]],
  use: {
    baseURL: url,
    launchOptions: {
      executablePath: process.env.CHROMIUM_PATH ?? "/usr/bin/chromium",
      env: { ...process.env, HOME: home } as Record<string, string>,
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    },
  },
  ...(process.env.SIGNALBOX_URL
    ? {}
    : { webServer: { command: "node e2e/support/server.mjs 8098", url: `${url}/health/ready` } }),
});

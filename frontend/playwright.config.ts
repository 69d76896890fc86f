// Browser tests run the built page on the real server with its simulator. SIGNALBOX_URL names another server,
// SIGNALBOX_E2E_PORT another port for the one that is started here: two checkouts can then test at once.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "@playwright/test";
import { FLAGS } from "./e2e/bench/flags.ts";

const PORT = Number(process.env.SIGNALBOX_E2E_PORT ?? 8098);
const url = process.env.SIGNALBOX_URL ?? `http://127.0.0.1:${PORT}`;

// A separate home: the browser must not read or change the user's profile. The server's data is separate too.
// Each process of the tests reads this file: the first one makes the folder, and the others find it in the environment.
process.env.SIGNALBOX_E2E_HOME ??= mkdtempSync(join(tmpdir(), "signalbox-e2e-"));
const home = process.env.SIGNALBOX_E2E_HOME;

export const ADMIN_TOKEN = "operator-in-a-test";
export const DATA = join(home, "data");

export default defineConfig({
  testDir: "e2e",
  testIgnore: "examples/**",
  outputDir: "test-results",
  timeout: 45_000,
  expect: { timeout: 15_000 },
  workers: 1,
  forbidOnly: process.env.CI === "true",
  // CI's machine is shared, and a browser that gets no time for seconds is no fault of the page; what passed only when it
  // was tried again is listed as flaky.
  retries: process.env.CI === "true" ? 2 : 0,
  reporter: [["list"]],
  use: {
    baseURL: url,
    launchOptions: {
      executablePath: process.env.CHROMIUM_PATH ?? "/usr/bin/chromium",
      env: { ...process.env, HOME: home } as Record<string, string>,
      args: FLAGS,
    },
  },
  ...(process.env.SIGNALBOX_URL
    ? {}
    : {
        webServer: {
          // Without the variables of these tests: the server would warn about unknown settings.
          command: `env -u SIGNALBOX_E2E_PORT -u SIGNALBOX_E2E_HOME signalbox serve --port ${PORT}`,
          url: `${url}/health/ready`,
          cwd: home,
          env: {
            SIGNALBOX_DATA_DIR: DATA,
            SIGNALBOX_ADMIN_TOKEN: ADMIN_TOKEN,
            SIGNALBOX_SIMULATOR_PACE: "0.005",
            OPENROUTER_API_KEY: "",
            TOOL_LOOP_V2: "true",
            SIGNALBOX_ALLOW_LOOP_HEADER: "true",
            SIGNALBOX_WEBHOOK_ALLOWED_HOSTS: "127.0.0.1",
          },
        },
      }),
});

// Tests of the example pages: built by Vite, served by `vite preview`, which passes requests on to a real server.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "@playwright/test";
import { FLAGS } from "../bench/flags.ts";

const PORT = Number(process.env.SIGNALBOX_E2E_PORT ?? 8198);
const PAGES = ["assistant-ui", "ai-sdk"];
const url = `http://127.0.0.1:${PORT}`;
// A separate home, as in the tests of the chat page.
process.env.SIGNALBOX_E2E_HOME ??= mkdtempSync(join(tmpdir(), "signalbox-e2e-"));
const home = process.env.SIGNALBOX_E2E_HOME;

export default defineConfig({
  testDir: ".",
  outputDir: "../../test-results",
  timeout: 45_000,
  expect: { timeout: 15_000 },
  workers: 1,
  forbidOnly: process.env.CI === "true",
  retries: process.env.CI === "true" ? 2 : 0,
  reporter: [["list"]],
  use: {
    permissions: ["clipboard-read", "clipboard-write"],
    launchOptions: {
      executablePath: process.env.CHROMIUM_PATH ?? "/usr/bin/chromium",
      env: { ...process.env, HOME: home } as Record<string, string>,
      args: FLAGS,
    },
  },
  projects: PAGES.map((name, place) => ({
    name,
    testMatch: name === "assistant-ui" ? [`${name}.spec.ts`, "snippets.spec.ts"] : `${name}.spec.ts`,
    use: { baseURL: `http://127.0.0.1:${PORT + 1 + place}` },
  })),
  webServer: [
    {
      command: `env -u SIGNALBOX_E2E_PORT -u SIGNALBOX_E2E_HOME signalbox serve --port ${PORT}`,
      url: `${url}/health/ready`,
      cwd: home,
      env: { SIGNALBOX_DATA_DIR: join(home, "data"), SIGNALBOX_SIMULATOR_PACE: "0.005", OPENROUTER_API_KEY: "" },
    },
    ...PAGES.map((name, place) => ({
      command: `node node_modules/vite/bin/vite.js preview --host 127.0.0.1 --port ${PORT + 1 + place} --strictPort`,
      url: `http://127.0.0.1:${PORT + 1 + place}/`,
      cwd: `../../../examples/${name}`,
      env: { SIGNALBOX_URL: url },
    })),
  ],
});

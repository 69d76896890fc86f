import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const backend = process.env.SIGNALBOX_URL ?? "http://127.0.0.1:8000";

export default defineConfig({
  plugins: [react()],
  // The server's content policy knows no data: fonts and no inline scripts.
  build: { assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  server: { host: "127.0.0.1", proxy: { "/api": backend, "/health": backend } },
  test: { environment: "node", include: ["src/**/*.test.{ts,tsx}"] },
});

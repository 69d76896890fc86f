import react from "@vitejs/plugin-react";
import { defineConfig, loadEnv } from "vite";

export default defineConfig(({ mode }) => {
  const target = loadEnv(mode, ".", "SIGNALBOX_").SIGNALBOX_URL ?? "http://127.0.0.1:8000";
  // The page and the API have one origin, so Signalbox needs no setting: it would reject the origin of this server.
  const proxy = { "/api": { target, changeOrigin: true, headers: { origin: target } } };
  return { plugins: [react()], server: { proxy }, preview: { proxy } };
});

import react from "@vitejs/plugin-react";
import { defineConfig, loadEnv } from "vite";

export default defineConfig(({ mode }) => {
  const target = loadEnv(mode, ".", "SIGNALBOX_").SIGNALBOX_URL ?? "http://127.0.0.1:8000";
  // The page and the API have one origin, so Signalbox needs no setting: it would reject the origin of this server.
  const toSignalbox = { target, changeOrigin: true, headers: { origin: target } };
  // Sources of the answers can be documents and notes of the server.
  const proxy = { "/api": toSignalbox, "/guide": toSignalbox, "/notes": toSignalbox };
  return { plugins: [react()], server: { proxy }, preview: { proxy } };
});

import react from "@vitejs/plugin-react";
import { defineConfig, loadEnv } from "vite";

export default defineConfig(({ mode }) => {
  const env = loadEnv(mode, ".", "SIGNALBOX_");
  const target = env.SIGNALBOX_URL ?? "http://127.0.0.1:8000";
  const token = env.SIGNALBOX_ACCESS_TOKEN;
  // The page and the API have one origin, so Signalbox needs no CORS setting: it would reject the origin of this server.
  // The token stays in this process: the page never has it.
  const headers = { origin: target, ...(token && { authorization: `Bearer ${token}` }) };
  const toSignalbox = { target, changeOrigin: true, headers };
  // Sources of the answers can be documents and notes of the server.
  const proxy = { "/assistant": toSignalbox, "/api": toSignalbox, "/guide": toSignalbox, "/notes": toSignalbox };
  return { plugins: [react()], server: { proxy }, preview: { proxy } };
});

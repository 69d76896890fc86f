import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { compress } from "./scripts/compress.ts";
import { drawShell } from "./scripts/draw.ts";
import { newestFonts } from "./scripts/fonts.ts";
import { previewFrame } from "./scripts/frame.ts";
import { inlineFirstPaint } from "./scripts/inline.ts";

const backend = process.env.SIGNALBOX_URL ?? "http://127.0.0.1:8000";
const PAGES = ["index", "guide", "docs", "operator"];
const PURE = ["src/logic/**/*.test.ts"];
// These use streams and fetch of node, which a context of vmThreads does not have.
const OWN_PROCESS = [
  "src/cost.test.tsx",
  "src/components/compare/CompareColumns.test.tsx",
  "src/components/inspector/RunInspectorDrawer.test.tsx",
];

/** The server compares Origin with Host, so the proxy must not replace Host. */
const same = { target: backend, changeOrigin: false };

/** As on the server: a browser that navigates gets the page, any other client the document. */
const documents = {
  ...same,
  bypass: ({ headers }: { headers: { accept?: string | undefined } }) =>
    headers.accept?.includes("text/html") ? "/guide.html" : undefined,
};

/** The page is built from the client's sources, and the client needs no separate build. */
const client = fileURLToPath(new URL("../clients/typescript/src", import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      { find: /^@signalbox\/client$/, replacement: `${client}/index.ts` },
      { find: /^@signalbox\/client\/requests$/, replacement: `${client}/requests/index.ts` },
    ],
  },
  plugins: [tailwindcss(), react(), newestFonts(), drawShell(), inlineFirstPaint(), previewFrame(), compress()],
  // Relative, so that the page works under any path. Documents are at several depths, so guide.html has paths from the
  // root, to which the server adds its prefix (backend/signalbox/app/asgi/static_files.py).
  base: "./",
  experimental: {
    renderBuiltUrl: (name, { hostId }) => (hostId.endsWith("guide.html") ? `/${name}` : { relative: true }),
  },
  build: {
    // The server's content policy knows no data: fonts; scripts/inline.ts names the only inline script.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: { input: PAGES.map((name) => `${name}.html`) },
  },
  // Each language of the highlighter is a separate chunk.
  worker: { format: "es" },
  server: {
    host: "127.0.0.1",
    proxy: {
      "/api": same,
      "/health": same,
      "/openapi.json": same,
      "/guide/": documents,
      "/notes/": documents,
      "/preview-frame": same,
      "^/(docs|operator)$": { ...same, bypass: ({ url }) => `${url}.html` },
    },
  },
  test: {
    environment: "node",
    // A process for each file costs a second. Pure functions need no isolation, and a context isolates most others.
    projects: [
      { extends: true, test: { name: "pure", include: PURE, isolate: false } },
      {
        extends: true,
        test: {
          name: "page",
          include: ["src/**/*.test.{ts,tsx}"],
          exclude: [...PURE, ...OWN_PROCESS],
          pool: "vmThreads",
        },
      },
      { extends: true, test: { name: "process", include: OWN_PROCESS } },
    ],
    setupFiles: ["src/testTimeouts.setup.ts"],
    // For what hangs. A busy machine was seen to take ten times as long as a quiet one.
    expect: { poll: { timeout: 30_000 } },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 60_000,
  },
});

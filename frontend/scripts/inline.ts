// Puts the chat page's style sheet and theme.js into index.html itself: it is painted when the document has come, and
// not a round trip later. The server allows both by their hashes (backend/signalbox/app/asgi/static_files.py).
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Plugin } from "vite";

const PAGE = "index.html";
const THEME = '<script src="/theme.js"></script>';
const SHEET = /<link rel="stylesheet" crossorigin href="\/([^"]+)">/g;

export const inlineFirstPaint = (): Plugin => {
  let publicDir = "";
  return {
    name: "signalbox:inline",
    apply: "build",
    enforce: "post",
    configResolved: (config) => {
      publicDir = config.publicDir;
    },
    generateBundle: {
      order: "post",
      async handler(_options, bundle) {
        const page = bundle[PAGE];
        if (page?.type !== "asset") throw new Error(`The build has no ${PAGE}`);
        const theme = await readFile(join(publicDir, "theme.js"), "utf8");
        const styled = String(page.source).replace(SHEET, (_link, name: string) => inlined(name, bundle[name]));
        if (!styled.includes(THEME) || !styled.includes("<style>")) throw new Error(`${PAGE} has nothing to inline`);
        page.source = styled.replace(THEME, () => `<script>${safe(theme, "script")}</script>`);
      },
    },
  };
};

/**
 * Vite's loader finds the link, and does not load the sheet again for a late chunk. `disabled` and `media` keep the browser
 * from fetching it: up to Chromium 150 at least, the preload scanner ignores `disabled` (seen in 150, not in 156).
 */
function inlined(name: string, sheet: { type: string; source?: unknown } | undefined): string {
  if (sheet?.type !== "asset") throw new Error(`The build has no ${name}`);
  return `<style>${safe(String(sheet.source), "style")}</style><link rel="stylesheet" disabled media="not all" href="/${name}">`;
}

/** What ends the element inside its own text would end it for the browser. */
function safe(text: string, element: "script" | "style"): string {
  if (text.toLowerCase().includes(`</${element}`)) throw new Error(`The text of <${element}> would end it`);
  return text;
}

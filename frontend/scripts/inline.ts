// Inlines the chat page's style sheet and theme.js into index.html. The first paint needs no further request. The
// server allows both by their hashes (backend/signalbox/app/asgi/static_files.py).
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Plugin } from "vite";

const PAGE = "index.html";
const THEME = '<script src="./theme.js"></script>';
const SHEET = /<link rel="stylesheet" crossorigin href="\.\/([^"]+)">/g;
/** Addresses in a style sheet are relative to it; inline they are relative to the page. */
const ADDRESS = /url\((["']?)\.\//g;

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
 * Vite's loader finds the link and does not load the sheet again for a lazy chunk. `disabled` and `media` keep the
 * browser from fetching it: the preload scanner of Chromium 150 ignores `disabled` (156 does not).
 */
function inlined(name: string, sheet: { type: string; source?: unknown } | undefined): string {
  if (sheet?.type !== "asset") throw new Error(`The build has no ${name}`);
  const folder = name.slice(0, name.lastIndexOf("/") + 1);
  const text = String(sheet.source).replaceAll(ADDRESS, (_address, quote: string) => `url(${quote}./${folder}`);
  return `<style>${safe(text, "style")}</style><link rel="stylesheet" disabled media="not all" href="./${name}">`;
}

/** Throws if the text contains the closing tag of its element. */
function safe(text: string, element: "script" | "style"): string {
  if (text.toLowerCase().includes(`</${element}`)) throw new Error(`The text of <${element}> would end it`);
  return text;
}

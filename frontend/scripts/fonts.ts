// Ships KaTeX's fonts only as woff2, which every supported browser reads.
import type { Plugin } from "vite";

const OLDER = /,\s*url\([^)]*\.(?:woff|ttf)\)\s*format\("(?:woff|truetype)"\)/g;

export const newestFonts = (): Plugin => ({
  name: "signalbox:fonts",
  enforce: "pre",
  transform: {
    filter: { id: /katex(\.min)?\.css/ },
    handler: (code) => code.replaceAll(OLDER, ""),
  },
});

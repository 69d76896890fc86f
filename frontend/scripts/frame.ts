// Builds the preview frame: one document with one inline script. A frame without an origin cannot load modules from the
// server, and the server allows the script by its hash (backend/signalbox/app/asgi/preview_frame.py).
import { build, type Plugin } from "vite";

const ENTRY = "src/frame/main.ts";
const FILE = "preview-frame.html";

export const previewFrame = (): Plugin => {
  let root = "";
  return {
    name: "signalbox:frame",
    apply: "build",
    configResolved: (config) => {
      ({ root } = config);
    },
    async generateBundle() {
      const script = await builtScript(root);
      if (script.toLowerCase().includes("</script")) throw new Error(`The text of ${ENTRY} would end its element`);
      const head = '<meta charset="utf-8"><title>Preview</title>';
      const source = `<!doctype html><html lang="en"><head>${head}</head><body><script>${script}</script></body></html>`;
      this.emitFile({ type: "asset", fileName: FILE, source });
    },
  };
};

async function builtScript(root: string): Promise<string> {
  const built = await build({
    root,
    configFile: false,
    logLevel: "warn",
    publicDir: false,
    build: { write: false, lib: { entry: ENTRY, formats: ["iife"], name: "frame" }, minify: true },
  });
  const [output] = Array.isArray(built) ? built : [built];
  const chunk = output && "output" in output ? output.output[0] : undefined;
  if (chunk?.type !== "chunk") throw new Error(`${ENTRY} was not built`);
  return chunk.code.trim();
}

// The files in a frame, and addresses of their content.
import type { FrameFile, ToFrame } from "../types/previewFrame.ts";

const TYPES: Readonly<Record<string, string>> = {
  css: "text/css",
  csv: "text/csv",
  js: "text/javascript",
  json: "application/json",
  mjs: "text/javascript",
  svg: "image/svg+xml",
};

const typeOf = (path: string): string => TYPES[path.split(".").at(-1)?.toLowerCase() ?? ""] ?? "text/plain";

export class FrameFiles {
  readonly #files = new Map<string, FrameFile>();
  readonly #addresses = new Map<string, string>();

  change({ changed, removed }: Pick<Extract<ToFrame, { type: "files" }>, "changed" | "removed">): void {
    for (const path of [...removed, ...Object.keys(changed)]) {
      const address = this.#addresses.get(path);
      if (address !== undefined) URL.revokeObjectURL(address);
      this.#addresses.delete(path);
      this.#files.delete(path);
    }
    for (const [path, file] of Object.entries(changed)) this.#files.set(path, file);
  }

  readonly text = (path: string): string | undefined => {
    const file = this.#files.get(path);
    return typeof file === "string" ? file : undefined;
  };

  readonly address = (path: string): string | undefined => {
    const file = this.#files.get(path);
    if (file === undefined) return undefined;
    const known = this.#addresses.get(path);
    if (known !== undefined) return known;
    const address = URL.createObjectURL(typeof file === "string" ? new Blob([file], { type: typeOf(path) }) : file);
    this.#addresses.set(path, address);
    return address;
  };

  readonly scripts = (): readonly string[] => [...this.#files.keys()].filter((path) => /\.m?js$/i.test(path));

  readonly addressOfScript = (text: string): string =>
    URL.createObjectURL(new Blob([text], { type: "text/javascript" }));

  /** A document with paths of files in place of their addresses, which only this frame can load. */
  restored(html: string): string {
    return [...this.#addresses].reduce((text, [path, address]) => text.replaceAll(address, `/${path}`), html);
  }

  has(path: string): boolean {
    return this.#files.has(path);
  }
}

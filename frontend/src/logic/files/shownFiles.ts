// The files that the panel shows: stored ones, with the changes of the running answer.
import type { ShownFile, StoredFile } from "../../types/files.ts";
import { type FileWrite, textAfter } from "./fileWrites.ts";

/** By path. A file that only a running call writes is included. */
export function shownFiles(stored: readonly StoredFile[], writes: readonly FileWrite[]): readonly ShownFile[] {
  const byPath = new Map(stored.map((file) => [file.path, file]));
  const paths = [...new Set([...byPath.keys(), ...writes.map(({ path }) => path)])].sort();
  return paths.flatMap((path) => {
    const file = byPath.get(path);
    const version = file?.version ?? 0;
    const mine = writes.filter((write) => write.path === path);
    const content = mine.length > 0 ? changed(file, mine, version) : file?.content;
    // A new file of an edit that fails has no text.
    if (!file && content === undefined) return [];
    return [{ path, content, version, isGrowing: mine.some(({ isGrowing }) => isGrowing) }];
  });
}

function changed(
  file: StoredFile | undefined,
  writes: readonly FileWrite[],
  version: number,
): string | Blob | undefined {
  const content = file?.content;
  return content instanceof Blob ? content : textAfter(writes, content, version);
}

export type FileKind = "page" | "image" | "text";

const ENDINGS: Readonly<Record<string, FileKind>> = {
  ...{ html: "page", htm: "page" },
  ...{ png: "image", jpg: "image", jpeg: "image", webp: "image", gif: "image", svg: "image" },
};

export const endingOf = (path: string): string => /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? "";

export const kindOf = (path: string): FileKind => ENDINGS[endingOf(path)] ?? "text";

/** The file that is shown until the reader selects one: the start page, another page, or the file being written. */
export function firstFile(files: readonly ShownFile[]): string | undefined {
  const pages = files.filter(({ path }) => kindOf(path) === "page");
  const start = pages.find(({ path }) => /(^|\/)index\.html?$/i.test(path));
  return (start ?? pages[0] ?? files.find(({ isGrowing }) => isGrowing) ?? files[0])?.path;
}

/** The file whose preview is shown for a selected one: a style sheet has none, so the page that uses it stays. */
export function previewedFile(files: readonly ShownFile[], selected: string | undefined): string | undefined {
  if (selected !== undefined && kindOf(selected) !== "text") return selected;
  const first = firstFile(files);
  return first !== undefined && kindOf(first) !== "text" ? first : undefined;
}

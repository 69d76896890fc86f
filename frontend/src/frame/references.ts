// Replaces references to files in CSS and in modules by addresses that the frame can load.
import { isRelative, pathOf } from "./paths.ts";

/** The text of a file, or an address of its content. Undefined if there is no such file. */
export interface Files {
  text: (path: string) => string | undefined;
  address: (path: string) => string | undefined;
}

const URL_IN_CSS = /url\(\s*(?:"([^"]*)"|'([^']*)'|([^'")\s]*))\s*\)/g;
const IMPORT_IN_CSS = /@import\s+(?:url\(\s*)?["']?([^"')\s;]+)["']?\s*\)?\s*([^;]*);/g;

/** A style sheet with the sheets that it imports, and with addresses of its images and fonts. */
export function resolvedCss(css: string, from: string, files: Files, within: readonly string[] = []): string {
  const imported = css.replace(IMPORT_IN_CSS, (whole, reference: string, media: string) => {
    const path = pathOf(reference, from);
    const text = path === undefined ? undefined : files.text(path);
    if (path === undefined || text === undefined || within.includes(path)) return path === undefined ? whole : "";
    const sheet = resolvedCss(text, path, files, [...within, from]);
    return media.trim() ? `@media ${media.trim()} {${sheet}}` : sheet;
  });
  return imported.replace(URL_IN_CSS, (whole, double?: string, single?: string, bare?: string) => {
    const path = pathOf(double ?? single ?? bare ?? "", from);
    const address = path === undefined ? undefined : files.address(path);
    return address === undefined ? whole : `url("${address}")`;
  });
}

/** The scheme of modules in the import map. A module of a blob has no base for relative references. */
export const MODULES = "workspace:///";
const IMPORTED = /(\bfrom\s*|\bimport\s*\(?\s*)(["'])(\.{0,2}\/[^"'\n]+)\2/g;

/** A script whose relative imports name modules of the import map. */
export const resolvedModule = (script: string, from: string): string =>
  script.replace(IMPORTED, (whole, before: string, quote: string, reference: string) =>
    isRelative(reference) ? `${before}${quote}${MODULES}${pathOf(reference, from)}${quote}` : whole,
  );

/** Each address in a `srcset`. */
export const resolvedSrcset = (srcset: string, from: string, files: Files): string =>
  srcset
    .split(/,\s+/)
    .map((candidate) => {
      const [reference = "", ...size] = candidate.trim().split(/\s+/);
      return [resolved(reference, from, files), ...size].join(" ");
    })
    .join(", ");

/** The address of a file, or the reference as it is. */
export function resolved(reference: string, from: string, files: Files): string {
  const path = pathOf(reference, from);
  return (path === undefined ? undefined : files.address(path)) ?? reference;
}

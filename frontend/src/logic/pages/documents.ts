// The kind, title and link targets of a guide document.
import { isGuide } from "../trace/sources.ts";

export type DocumentKind = "markdown" | "html" | "text";

export interface DocumentText {
  kind: DocumentKind;
  title: string;
  body: string;
}

const FRONT_MATTER = /^---\r?\n([\s\S]*?)\r?\n---[^\S\n]*(?:\r?\n|$)/;

/** Read a document by its path, like the server's search. A folder responds with Markdown. */
export function documentOf(path: string, text: string): DocumentText {
  const file = decodeURIComponent(path.slice(path.lastIndexOf("/") + 1));
  const name = file.replace(/\.\w+$/, "").replaceAll(/[-_]/g, " ");
  if (/\.html?$/i.test(file)) return { kind: "html", title: name, body: text };
  if (file && !/\.(md|markdown|mdx)$/i.test(file)) return { kind: "text", title: name, body: text };
  const [front = "", fields = ""] = FRONT_MATTER.exec(text) ?? [];
  const body = text.slice(front.length);
  const named = /^title:\s*["']?(.+?)["']?\s*$/m.exec(fields)?.[1];
  const heading = /^ {0,3}# +(.+?)(?: +#+)?\s*$/m.exec(body)?.[1]?.replaceAll(/[`*]/g, "");
  return { kind: "markdown", title: named ?? heading ?? name, body };
}

const NOWHERE = "http://guide.invalid";

/** The target of a link in the document at `base` if it is an anchor or another document. */
export function linkWithin(base: string, href: string): string | undefined {
  if (href.startsWith("#")) return href;
  const url = URL.parse(href, NOWHERE + base);
  if (url?.origin !== NOWHERE) return undefined;
  const path = url.pathname + url.search + url.hash;
  return isGuide(path) ? path : undefined;
}

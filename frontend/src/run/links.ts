// The sources inside a tool's result, whatever list the tool keeps them in.
import type { Link } from "../types/models.ts";

const LISTS = ["results", "sources", "hits", "links"] as const;

/** Only what a browser may open: http and https. */
function webUrl(value: unknown): URL | undefined {
  if (typeof value !== "string") return undefined;
  const url = URL.parse(value);
  return url && (url.protocol === "http:" || url.protocol === "https:") ? url : undefined;
}

const text = (value: unknown): string => (typeof value === "string" ? value.trim() : "");

function linkOf(value: unknown): Link[] {
  const source = (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>;
  const target = address(source.url ?? source.link);
  if (!target) return [];
  return [
    {
      ...(typeof source.n === "number" && Number.isInteger(source.n) && { n: source.n }),
      title: text(source.title) || target.url,
      snippet: text(source.snippet ?? source.excerpt ?? source.description),
      ...target,
    },
  ];
}

/** The page's address and the name of where it is; our own documents are places as well. */
function address(value: unknown): { url: string; host: string } | undefined {
  const url = webUrl(value);
  if (url) return { url: url.href, host: url.hostname.replace(/^www\./, "") };
  if (typeof value === "string" && isGuide(value)) return { url: value, host: value.split("/")[1] ?? "" };
  return undefined;
}

const OWN = /^\/(guide|notes)\//;

/** A path of our own documents: `/guide/…` or `/notes/…`, also once the browser has resolved its dots. */
export function isGuide(href: string): boolean {
  const url = OWN.test(href) ? URL.parse(href, "http://guide.invalid") : null;
  return url?.host === "guide.invalid" && OWN.test(url.pathname);
}

/** Find the links in a result; a result without a list may be one page itself. */
export function linksOf(result: unknown): readonly Link[] {
  if (Array.isArray(result)) return result.flatMap(linkOf);
  if (typeof result !== "object" || result === null) return [];
  const holder = result as Record<string, unknown>;
  const list = LISTS.map((key) => holder[key]).find(Array.isArray);
  return list ? list.flatMap(linkOf) : linkOf(result);
}

/** What makes two links one source: the server's number, else the address without its fragment and scheme. */
export function sourceKey(link: Link): string {
  if (link.n !== undefined) return `n${link.n}`;
  const url = URL.parse(link.url);
  return url ? `${link.host}${url.pathname.replace(/\/$/, "")}${url.search}` : withoutFragment(link.url);
}

const withoutFragment = (url: string): string => url.split("#", 1)[0] ?? "";

export const countSources = (links: readonly Link[]): number => new Set(links.map(sourceKey)).size;

/**
 * Each place once, in the order of first sight. Two sections of one page are two places: each card leads to what was
 * quoted. The same page again without a section adds nothing.
 */
export function uniqueLinks(links: readonly Link[]): readonly Link[] {
  const seen = new Map<string, Link>();
  const pages = new Set<string>();
  for (const link of links) {
    const source = sourceKey(link);
    const section = link.url.slice(withoutFragment(link.url).length);
    const key = `${source}${section}`;
    if (seen.has(key) || (!section && pages.has(source))) continue;
    pages.add(source);
    seen.set(key, link);
  }
  return [...seen.values()];
}

/** Our own list of sources, `- [n] title: address` on each line, with the titles as links. */
export const linkedSources = (text: string): string =>
  text.replaceAll(
    /^- \[(\d+)\] (.*): (\S+)$/gm,
    (_, n: string, title: string, url: string) => `- [${n}] [${title.replaceAll(/[\\[\]`*_<]/g, "\\$&")}](<${url}>)`,
  );

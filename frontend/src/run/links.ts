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

/** The page's address and the name of where it is; our own guide is a place as well. */
function address(value: unknown): { url: string; host: string } | undefined {
  const url = webUrl(value);
  if (url) return { url: url.href, host: url.hostname.replace(/^www\./, "") };
  if (typeof value === "string" && isGuide(value)) return { url: value, host: "guide" };
  return undefined;
}

/** A path of our own guide: `/guide/…`, also once the browser has resolved its dots. */
export function isGuide(href: string): boolean {
  const url = href.startsWith("/guide/") ? URL.parse(href, "http://guide.invalid") : null;
  return url?.host === "guide.invalid" && url.pathname.startsWith("/guide/");
}

/** Find the links in a result; a result without a list may be one page itself. */
export function linksOf(result: unknown): readonly Link[] {
  if (Array.isArray(result)) return result.flatMap(linkOf);
  if (typeof result !== "object" || result === null) return [];
  const holder = result as Record<string, unknown>;
  const list = LISTS.map((key) => holder[key]).find(Array.isArray);
  return list ? list.flatMap(linkOf) : linkOf(result);
}

/** What makes two links one: the server's number, else the address without its fragment and scheme. */
export function linkKey(link: Link): string {
  if (link.n !== undefined) return `n${link.n}`;
  const url = URL.parse(link.url);
  return url ? `${link.host}${url.pathname.replace(/\/$/, "")}${url.search}` : link.url;
}

/** Each source once, in the order of first sight; ids in a query keep pages apart. */
export function uniqueLinks(links: readonly Link[]): readonly Link[] {
  const seen = new Map<string, Link>();
  for (const link of links) {
    const key = linkKey(link);
    if (!seen.has(key)) seen.set(key, link);
  }
  return [...seen.values()];
}

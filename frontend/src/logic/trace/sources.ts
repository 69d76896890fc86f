// Extracts the sources from a tool's result.
import type { Link } from "../../types/models.ts";

const LISTS = ["results", "sources", "hits", "links"] as const;

/** Only http and https URLs. */
function webUrl(value: unknown): URL | undefined {
  if (typeof value !== "string") return undefined;
  const url = URL.parse(value);
  return url && (url.protocol === "http:" || url.protocol === "https:") ? url : undefined;
}

/** The normalized URL if a browser may open it, otherwise undefined. */
export const webAddress = (value: string): string | undefined => webUrl(value)?.href;

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

/** The URL and the host name. For our own documents, the path and its first segment. */
function address(value: unknown): { url: string; host: string } | undefined {
  const url = webUrl(value);
  if (url) return { url: url.href, host: url.hostname.replace(/^www\./, "") };
  if (typeof value === "string" && isGuide(value)) return { url: value, host: value.split("/")[1] ?? "" };
  return undefined;
}

const OWN = /^\/(guide|notes)\//;

/**
 * Whether a path leads to this server's documents, `/guide/…` or `/notes/…`, even after the browser resolves its dots.
 */
export function isGuide(href: string): boolean {
  const url = OWN.test(href) ? URL.parse(href, "http://guide.invalid") : null;
  return url?.host === "guide.invalid" && OWN.test(url.pathname);
}

/** Find the links in a result. A result without a list may be a page itself. */
export function linksOf(result: unknown): readonly Link[] {
  if (Array.isArray(result)) return result.flatMap(linkOf);
  if (typeof result !== "object" || result === null) return [];
  const holder = result as Record<string, unknown>;
  const list = LISTS.map((key) => holder[key]).find(Array.isArray);
  return list ? list.flatMap(linkOf) : linkOf(result);
}

/** The notice about the search that a result contains. */
export function noticeOf(result: unknown): string | undefined {
  const notice = typeof result === "object" && result !== null && "notice" in result ? result.notice : undefined;
  return typeof notice === "string" && notice ? notice : undefined;
}

/** Query parameters that track visitors and do not identify a page. */
const TRACKING = /^(utm_.*|fbclid|gclid|dclid|gbraid|wbraid|msclkid|yclid|igshid|mc_cid|mc_eid|ref|ref_src|ref_url)$/i;

/** Identifies a page by host, path and query. Scheme, fragment and tracking parameters do not count. */
export function pageKey(link: Link): string {
  const url = URL.parse(link.url);
  if (!url) return link.url.split("#", 1)[0] ?? "";
  const query = [...url.searchParams]
    .filter(([name]) => !TRACKING.test(name))
    .map(([name, value]) => `${name}=${value}`);
  return `${link.host}${url.pathname.replace(/\/$/, "")}?${query.join("&")}`;
}

/** A page, and its other sections that were found. */
export interface Source {
  link: Link;
  more: readonly Link[];
}

/**
 * The distinct sources in order. Links with the same number or page are one source. Other sections are kept with it,
 * because each has a separate excerpt (quirk H6).
 */
export function sourcesIn(links: readonly Link[]): readonly Source[] {
  const found: { link: Link; more: Link[] }[] = [];
  const byKey = new Map<string, { link: Link; more: Link[] }>();
  for (const link of links) {
    const keys = [...(link.n === undefined ? [] : [`n ${link.n}`]), pageKey(link)];
    let source = keys.map((key) => byKey.get(key)).find(Boolean);
    if (!source) {
      source = { link, more: [] };
      found.push(source);
    } else if (isOtherSection(source, link)) source.more.push(link);
    for (const key of keys) byKey.set(key, source);
  }
  return found;
}

const isOtherSection = (source: Source, link: Link): boolean =>
  sectionOf(link) !== "" && [source.link, ...source.more].every((other) => sectionOf(other) !== sectionOf(link));

const sectionOf = ({ url }: Link): string => (url.includes("#") ? url.slice(url.indexOf("#")) : "");

/** Turn the titles in the server's source list into links. Its lines have the form `- [n] title: address`. */
export const linkedSources = (text: string): string =>
  text.replaceAll(
    /^- \[(\d+)\] (.*): (\S+)$/gm,
    (_, n: string, title: string, url: string) => `- [${n}] [${escaped(title)}](<${url}>)`,
  );

/** Escape Markdown marks. */
export const escaped = (text: string): string => text.replaceAll(/[\\[\]`*_<]/g, "\\$&");

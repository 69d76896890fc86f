// The sources inside a tool's result, whatever list the tool keeps them in.
import type { Link } from "../../types/models.ts";

const LISTS = ["results", "sources", "hits", "links"] as const;

/** Only what a browser may open: http and https. */
function webUrl(value: unknown): URL | undefined {
  if (typeof value !== "string") return undefined;
  const url = URL.parse(value);
  return url && (url.protocol === "http:" || url.protocol === "https:") ? url : undefined;
}

/** The address where the text is one that a browser may open, else undefined. */
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

/** The page's address and the name of where it is; our own documents are places as well. */
function address(value: unknown): { url: string; host: string } | undefined {
  const url = webUrl(value);
  if (url) return { url: url.href, host: url.hostname.replace(/^www\./, "") };
  if (typeof value === "string" && isGuide(value)) return { url: value, host: value.split("/")[1] ?? "" };
  return undefined;
}

const OWN = /^\/(guide|notes)\//;

/** A path of this server's documents: `/guide/…` or `/notes/…`, also once the browser has resolved its dots. */
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

/** The sentence that a result holds about the search itself. */
export function noticeOf(result: unknown): string | undefined {
  const notice = typeof result === "object" && result !== null && "notice" in result ? result.notice : undefined;
  return typeof notice === "string" && notice ? notice : undefined;
}

/** Parts of a query that tell where a reader came from, and never which page it is. */
const TRACKING = /^(utm_.*|fbclid|gclid|dclid|gbraid|wbraid|msclkid|yclid|igshid|mc_cid|mc_eid|ref|ref_src|ref_url)$/i;

/** What names the page: host, path, and of the query what tells pages apart. The scheme and the section do not. */
export function pageKey(link: Link): string {
  const url = URL.parse(link.url);
  if (!url) return link.url.split("#", 1)[0] ?? "";
  const query = [...url.searchParams]
    .filter(([name]) => !TRACKING.test(name))
    .map(([name, value]) => `${name}=${value}`);
  return `${link.host}${url.pathname.replace(/\/$/, "")}?${query.join("&")}`;
}

/** One page that was found, and the other sections of it that were. */
export interface Source {
  link: Link;
  more: readonly Link[];
}

/**
 * Each source once, in the order of first sight: what has the server's number or the page of one that stands is the same.
 * Its other sections are kept with it, since each was quoted for something else (quirk H6).
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

/** Our own list of sources, `- [n] title: address` on each line, with the titles as links. */
export const linkedSources = (text: string): string =>
  text.replaceAll(
    /^- \[(\d+)\] (.*): (\S+)$/gm,
    (_, n: string, title: string, url: string) => `- [${n}] [${escaped(title)}](<${url}>)`,
  );

/** A text that stands in markdown as it is. */
export const escaped = (text: string): string => text.replaceAll(/[\\[\]`*_<]/g, "\\$&");

// An answer as text for the clipboard, without anything of the page (quirk H7).
import type { Link, RunTrace } from "../../types/models.ts";
import { escaped, sourcesIn } from "../trace/sources.ts";
import { linkListsOf } from "./stops.ts";

export type CopyKind = "answer" | "sources" | "reasoning" | "plain";

/** Longer data URLs are left out: few editors handle longer lines, and the export contains the image. */
const LONGEST_IMAGE = 200_000;

/** `origin` makes links to our own documents absolute. */
export function copiedText(trace: RunTrace, kind: CopyKind, origin = ""): string {
  switch (kind) {
    case "answer":
      return withSources(answerMarkdown(trace), citedPages(trace), origin);
    case "sources":
      return withSources(answerMarkdown(trace), linkListsOf(trace).flat(), origin);
    case "reasoning":
      return withReasoning(trace, answerMarkdown(trace));
    case "plain":
      return plainText(answerMarkdown(trace, 0));
  }
}

/** Whether there is anything to copy. */
export const hasAnswer = (trace: RunTrace): boolean =>
  trace.items.some((item) => item.kind === "content" && (/\S/.test(item.text) || item.images !== undefined));

/** The answer with its images in place, written like the Markdown export. */
function answerMarkdown(trace: RunTrace, longest = LONGEST_IMAGE): string {
  const blocks: string[] = [];
  let text = "";
  for (const item of trace.items) {
    if (item.kind !== "content") continue;
    text += item.text;
    if (!item.images) continue;
    blocks.push(text, ...item.images.map((url) => imageMarkdown(url, longest)));
    text = "";
  }
  return [...blocks, text]
    .map((block) => block.trim())
    .filter(Boolean)
    .join("\n\n");
}

const imageMarkdown = (url: string, longest: number): string =>
  url.startsWith("data:") && url.length > longest ? "*(Image not included.)*" : `![Image](<${url}>)`;

/** The pages that the provider cites. They belong to the answer, although its text does not mention them. */
const citedPages = (trace: RunTrace): readonly Link[] =>
  trace.items.flatMap((item) => (item.kind === "content" && item.links) || []);

const withSources = (answer: string, links: readonly Link[], origin: string): string =>
  [answer, sourceList(links, answer, origin)].filter(Boolean).join("\n\n");

/** The sources that the answer cites, or all sources if it cites none by number. */
function sourceList(all: readonly Link[], answer: string, origin: string): string {
  const links = sourcesIn(all).map(({ link }) => link);
  const quoted = new Set(
    [...answer.matchAll(/\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]/g)].flatMap(([, list = ""]) => list.split(",").map(Number)),
  );
  const cited = links.filter(({ n }) => n !== undefined && quoted.has(n));
  const listed = (cited.length > 0 ? cited : links).toSorted((a, b) => (a.n ?? Infinity) - (b.n ?? Infinity));
  if (listed.length === 0) return "";
  return ["## Sources", "", ...listed.map((link) => sourceLine(link, origin))].join("\n");
}

function sourceLine({ n, title, url }: Link, origin: string): string {
  const target = url.startsWith("/") ? origin + url : url;
  return `- ${n === undefined ? "" : `[${n}] `}[${escaped(title)}](<${target}>)`;
}

/** Reasoning and answer in order, each under a heading. */
function withReasoning(trace: RunTrace, answer: string): string {
  const thoughts = trace.items.flatMap((item) =>
    item.kind === "reasoning" && item.text.trim() ? [item.text.trim()] : [],
  );
  if (thoughts.length === 0) return answer;
  return ["## Reasoning", ...thoughts, "## Answer", answer].filter(Boolean).join("\n\n");
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/;

/** Strip Markdown marks. Code blocks stay as they are. */
export function plainText(markdown: string): string {
  let inCode = false;
  return markdown
    .split("\n")
    .flatMap((line) => {
      if (FENCE.test(line)) {
        inCode = !inCode;
        return [];
      }
      return [inCode ? line : plainLine(line)];
    })
    .join("\n")
    .trim();
}

const plainLine = (line: string): string =>
  line
    .replace(/^ {0,3}#{1,6}\s+/, "")
    .replace(/^\s{0,3}>\s?/, "")
    .replaceAll(/!?\[([^\]]+)\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g, "$1 ($2)")
    .replaceAll(/(\*\*|__|~~)(?=\S)(.+?)(?<=\S)\1/g, "$2")
    .replaceAll(/(?<![\w*])[*_](?=\S)([^*_]+)(?<=\S)[*_](?![\w*])/g, "$1")
    .replaceAll(/`([^`]+)`/g, "$1");

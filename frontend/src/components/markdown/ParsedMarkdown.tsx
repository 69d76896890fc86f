// Parses Markdown to elements, once per text.
import { memo } from "react";
import ReactMarkdown, { type Options } from "react-markdown";
import remarkGfm from "remark-gfm";
import { answerElements, keepUrl } from "./elements.tsx";
import type { MathPlugins } from "./math.ts";
import { countParses } from "./parseCount.ts";
import { remarkExtensions } from "./remarkExtensions.ts";
import { textDirection } from "./textDirection.ts";

/** The element that contains a piece of a long block. The piece is rendered without it. */
export type Container = "p" | "ul" | "ol" | "thead" | "tbody";
/** A footnote contains whole blocks. All of these set the direction of their content. */
export type Within = Container | "note";

interface Props {
  text: string;
  within?: Within | undefined;
  math?: MathPlugins | undefined;
}

interface Node {
  type: string;
  value?: string;
  children?: Node[];
  data?: { hProperties: Record<string, string> };
}

interface Element {
  type: string;
  tagName?: string;
  properties?: Record<string, unknown>;
  children?: Element[];
}

/** Markdown can nest emphasis without limit. Elements that deep overflow the stack of tree walkers. */
const DEEPEST = 100;

/** A remark plugin: replaces a tree that is too deep with its source text. */
const shallow = () => (tree: Node, file: { value?: unknown }) => {
  let [level, depth] = [[tree], 0];
  while (level.length > 0 && depth++ <= DEEPEST) level = level.flatMap(({ children }) => children ?? []);
  if (depth <= DEEPEST) return;
  const words: Node = { type: "text", value: String(file.value) };
  tree.children = [{ type: "paragraph", children: [words], data: { hProperties: { className: "plain" } } }];
};

const gfm: [typeof remarkGfm, { singleTilde: boolean }] = [remarkGfm, { singleTilde: false }];
const PLAIN: NonNullable<Options["remarkPlugins"]> = [countParses, gfm, shallow, remarkExtensions];

export const ParsedMarkdown = memo(function Parsed({ text, within, math }: Props) {
  return (
    <ReactMarkdown
      remarkPlugins={math ? [...PLAIN, math.remark] : PLAIN}
      rehypePlugins={[...(math ? [math.rehype] : []), within ? UNWRAPPED[within] : textDirection]}
      components={answerElements}
      urlTransform={keepUrl}
    >
      {text}
    </ReactMarkdown>
  );
});

/** A rehype plugin: removes the expected container. Other elements are wrapped to be valid in the real container. */
const unwrapped = (within: Container, wrap: (other: Element) => Element) => () => (tree: Element) => {
  const open = (node: Element): Element[] => {
    // Between table rows no text is allowed, not even whitespace.
    if (node.tagName === within)
      return (node.children ?? []).filter(({ type }) => type !== "text" || !within.startsWith("t"));
    if (node.tagName === "table")
      return (node.children ?? []).filter(({ tagName }) => tagName === within).flatMap(open);
    return node.type === "text" ? [] : [wrap(node)];
  };
  tree.children = (tree.children ?? []).flatMap(open);
};

const element = (tagName: string, ...children: Element[]): Element => ({
  type: "element",
  tagName,
  properties: {},
  children,
});
const item = (other: Element) => element("li", other);
const row = (other: Element) => element("tr", element("td", other));

const UNWRAPPED: Record<Within, ReturnType<typeof unwrapped>> = {
  p: unwrapped("p", ({ children = [] }) => element("span", ...children)),
  ul: unwrapped("ul", item),
  ol: unwrapped("ol", item),
  thead: unwrapped("thead", row),
  tbody: unwrapped("tbody", row),
  note: () => () => undefined,
};

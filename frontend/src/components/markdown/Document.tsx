// A Markdown document with anchors on its headings and links between pages.
import { useMemo } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { serverPath } from "../../logic/baseUrl.ts";
import { slugger } from "../../logic/markdown/headingSlugs.ts";
import { linkWithin } from "../../logic/pages/documents.ts";
import { Anchor, elements, keepUrl } from "./elements.tsx";
import { textDirection } from "./textDirection.ts";

interface Node {
  type: string;
  value?: string;
  alt?: string;
  url?: string;
  children?: Node[];
  data?: { hProperties: Record<string, string> };
}

const textOf = (node: Node): string => node.value ?? (node.children ?? []).map(textOf).join("");

/** A remark plugin: adds ids to headings, resolves links, and removes comments. */
const within = (base: string) => () => (tree: Node) => {
  const slug = slugger();
  const visit = (node: Node): void => {
    if (node.type === "heading") node.data = { hProperties: { id: slug(textOf(node)) } };
    if (node.url !== undefined && node.type !== "image") node.url = linkWithin(base, node.url) ?? node.url;
    if (!node.children) return;
    node.children = node.children.filter((child) => child.type !== "html" || !child.value?.startsWith("<!--"));
    node.children.forEach(visit);
  };
  visit(tree);
};

const isOurs = (href: string): boolean => linkWithin("/guide/", href) === href;

const components: Components = {
  ...elements,
  a: ({ href, title, children }) =>
    href !== undefined && isOurs(href) ? (
      <a href={href.startsWith("#") ? href : serverPath(href)} title={title}>
        {children}
      </a>
    ) : (
      <Anchor href={href} title={title}>
        {children}
      </Anchor>
    ),
};

export function MarkdownDocument({ text, base }: { text: string; base: string }) {
  const plugins = useMemo(() => [remarkGfm, within(base)], [base]);
  return (
    <ReactMarkdown
      remarkPlugins={plugins}
      rehypePlugins={[textDirection]}
      components={components}
      urlTransform={keepUrl}
    >
      {text}
    </ReactMarkdown>
  );
}

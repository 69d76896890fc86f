// `[n]` in the text to a link to source n. A number that no source has stays text (quirk H6).
import type { Link } from "../../types/models.ts";

interface Node {
  type: string;
  value?: string;
  children?: Node[];
  url?: string;
  title?: string;
  data?: { hProperties: Record<string, string> };
}

const CITE = /\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]/g;
const CLOSED = new Set(["link", "linkReference", "inlineCode", "code", "definition"]);

/** A remark plugin. */
export const citations = (sources: ReadonlyMap<number, Link>) => () => (tree: Node) => {
  if (sources.size > 0) visit(tree, sources);
};

function visit(node: Node, sources: ReadonlyMap<number, Link>): void {
  if (!node.children || CLOSED.has(node.type)) return;
  node.children = node.children.flatMap((child) =>
    child.type === "text" ? split(child.value ?? "", sources) : [child],
  );
  for (const child of node.children) visit(child, sources);
}

function split(text: string, sources: ReadonlyMap<number, Link>): Node[] {
  const nodes: Node[] = [];
  let from = 0;
  for (const match of text.matchAll(CITE)) {
    const links = (match[1] ?? "").split(",").map((n) => cite(Number(n), sources));
    if (links.some((link) => !link)) continue;
    nodes.push({ type: "text", value: text.slice(from, match.index) }, ...links.filter((link) => link !== undefined));
    from = match.index + match[0].length;
  }
  nodes.push({ type: "text", value: text.slice(from) });
  return nodes.filter((node) => node.type !== "text" || node.value !== "");
}

function cite(n: number, sources: ReadonlyMap<number, Link>): Node | undefined {
  const source = sources.get(n);
  if (!source) return undefined;
  const title = `${source.title} · ${source.host}`;
  return {
    type: "link",
    url: source.url,
    title,
    children: [{ type: "text", value: `[${n}]` }],
    data: { hProperties: { "data-cite": String(n) } },
  };
}

// Extends Markdown: `[n]` cites a source, footnotes get marks, and HTML is shown as text.

interface Node {
  type: string;
  value?: string;
  label?: string;
  alt?: string;
  children?: Node[];
  data?: { hName: string; hProperties?: Record<string, string> };
}

/** `[1]`, `[1, 2]`, `【1】`, `【1†source】`. Rendering decides which of them have a source (quirk H6). */
const CITE = /\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]|【(\d{1,3})(?:†[^】]*)?】/g;
const LINKS = new Set(["link", "linkReference"]);
const FLOW = new Set(["root", "blockquote", "listItem", "footnoteDefinition"]);

/** A remark plugin that applies the extensions. */
export const remarkExtensions = () => (tree: Node) => visit(tree, false);

function visit(node: Node, inLink: boolean): void {
  if (!node.children) return;
  const within = inLink || LINKS.has(node.type);
  node.children = node.children.flatMap((child) => replaced(child, node, within));
  for (const child of node.children) visit(child, within);
}

function replaced(child: Node, parent: Node, inLink: boolean): Node[] {
  switch (child.type) {
    case "text":
      return inLink || parent.data ? [child] : cited(child.value ?? "");
    case "footnoteReference":
      return [element("sup", "note-mark", child.label ?? "")];
    case "html":
      return [htmlAsText(child.value ?? "", FLOW.has(parent.type))];
    case "image":
    case "imageReference":
      // Links cannot be nested.
      return inLink ? [text(`[image: ${child.alt || "no description"}]`)] : [child];
    default:
      return [child];
  }
}

function cited(value: string): Node[] {
  const nodes: Node[] = [];
  let from = 0;
  for (const match of value.matchAll(CITE)) {
    nodes.push(text(value.slice(from, match.index)), element("cite", match[1] ?? match[2] ?? "", match[0]));
    from = match.index + match[0].length;
  }
  nodes.push(text(value.slice(from)));
  return nodes.filter((node) => node.type !== "text" || node.value !== "");
}

function htmlAsText(value: string, isBlock: boolean): Node {
  if (/^<br\s*\/?>$/i.test(value)) return isBlock ? text("") : { type: "break" };
  return isBlock ? { type: "paragraph", children: [text(value)] } : text(value);
}

const text = (value: string): Node => ({ type: "text", value });

const element = (hName: string, className: string, value: string): Node => ({
  type: hName,
  children: [text(value)],
  data: { hName, hProperties: { className } },
});

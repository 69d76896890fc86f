// KaTeX with its fonts, in a separate chunk. Its markup is converted to elements without the browser's parser: the
// content security policy forbids style attributes in parsed HTML, but not styles that React sets.
import katex from "katex";
import "katex/dist/katex.min.css";
import remarkMath from "remark-math";
import { isFormulaWithinLimits } from "../../logic/markdown/parseLimits.ts";
import type { MathPlugins } from "./math.ts";

interface Node {
  type: string;
  tagName?: string;
  value?: string;
  properties?: Record<string, unknown>;
  children?: Node[];
}

// Formulas are untrusted: no links, images or classes, and limits on macro expansion and size.
const OPTIONS = { trust: false, strict: "ignore", maxExpand: 200, maxSize: 20, throwOnError: true } as const;

const PARTS = /<(\/?)([a-z-]+)((?:\s+[\w:-]+="[^"]*")*)\s*(\/?)>|([^<]+)/gi;
const ELEMENTS =
  /^(span|svg|path|line|math|semantics|annotation|mrow|mi|mn|mo|ms|mtext|mspace|mfrac|msqrt|mroot|msub|msup|msubsup|munder|mover|munderover|mtable|mtr|mtd|mlabeledtr|mpadded|mphantom|menclose|mstyle|mglyph)$/;
const REFUSED = /^(on|href$|src|xlink|id$)/i;
const ENTITIES: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#x27;": "'" };

const unescaped = (text: string): string =>
  text.replaceAll(/&(amp|lt|gt|quot|#x27);/g, (entity) => ENTITIES[entity] ?? entity);

/** Macros can make a short formula deep or large. Browsers fail at a depth of about a thousand elements. */
const DEEPEST = 500;
const LARGEST = 1_000_000;

/** Handles the well-formed markup that KaTeX writes. Anything else is dropped. */
export function elementsOf(markup: string): Node[] {
  if (markup.length > LARGEST) throw new RangeError("The formula is too large.");
  const root: Node = { type: "root", children: [] };
  const path = [root];
  for (const [, close, name = "", attributes = "", empty, text] of markup.matchAll(PARTS)) {
    const within = path.at(-1)?.children;
    if (text !== undefined) within?.push({ type: "text", value: unescaped(text) });
    else if (close) path.pop();
    else {
      const node = {
        type: "element",
        tagName: ELEMENTS.test(name) ? name : "span",
        properties: propertiesOf(attributes),
        children: [],
      };
      within?.push(node);
      if (!empty) path.push(node);
      if (path.length > DEEPEST) throw new RangeError("The formula is too deep.");
    }
  }
  return root.children ?? [];
}

const propertiesOf = (attributes: string): Record<string, string> =>
  Object.fromEntries(
    [...attributes.matchAll(/([\w:-]+)="([^"]*)"/g)]
      .filter(([, name = ""]) => !REFUSED.test(name))
      .map(([, name = "", value = ""]) => [name === "class" ? "className" : name, unescaped(value)]),
  );

const textOf = (node: Node): string => node.value ?? (node.children ?? []).map(textOf).join("");
const classesOf = (node: Node): readonly unknown[] => {
  const { className } = node.properties ?? {};
  return Array.isArray(className) ? className : [];
};

function setIn(formula: Node, displayMode: boolean): Node[] {
  const words = textOf(formula).trim();
  try {
    if (!isFormulaWithinLimits(words)) throw new RangeError("The formula is too long.");
    const elements = elementsOf(katex.renderToString(words, { ...OPTIONS, displayMode }));
    // Formulas are left-to-right in every script.
    return elements.map((node) => ({ ...node, properties: { ...node.properties, dir: "ltr" } }));
  } catch {
    // An invalid formula stays as written.
    const properties = { className: "katex-error", dir: "ltr" };
    return [{ type: "element", tagName: "span", properties, children: [{ type: "text", value: words }] }];
  }
}

/** A rehype plugin: renders the formulas of a tree. */
const formulas = () => (tree: Node) => visit(tree);

function visit(node: Node): void {
  if (!node.children) return;
  node.children = node.children.flatMap((child) => {
    if (child.tagName === "pre" && child.children?.[0] && classesOf(child.children[0]).includes("math-display"))
      return setIn(child, true);
    if (child.tagName === "code" && classesOf(child).includes("math-inline")) return setIn(child, false);
    visit(child);
    return [child];
  });
}

export const plugins: MathPlugins = { remark: [remarkMath, { singleDollarTextMath: false }], rehype: formulas };

// Which way each block of markdown runs: by its first word of a known direction. Code, formulas and addresses have none.

interface Element {
  type: string;
  tagName?: string;
  properties?: Record<string, unknown>;
  children?: Element[];
}

// A table has its own element, with the box that it scrolls in.
const BLOCKS = new Set(["p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "blockquote"]);

/**
 * A rehype plugin. Only the outermost blocks: the browser looks for the first word past all elements that have a `dir`
 * themselves, and the items of a list share one direction.
 */
export const directed = () => (tree: Element) => {
  for (const { tagName = "", properties } of tree.children ?? [])
    if (properties && BLOCKS.has(tagName)) properties.dir = "auto";
};

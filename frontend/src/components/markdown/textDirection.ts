// Sets the text direction of each Markdown block from its first strong character.

interface Element {
  type: string;
  tagName?: string;
  properties?: Record<string, unknown>;
  children?: Element[];
}

// Tables set the direction in their own component.
const BLOCKS = new Set(["p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "blockquote"]);

/**
 * A rehype plugin. It sets `dir` only on the outermost blocks: the browser skips elements with a `dir` when it looks
 * for the first strong character, and the items of a list share one direction.
 */
export const textDirection = () => (tree: Element) => {
  for (const { tagName = "", properties } of tree.children ?? [])
    if (properties && BLOCKS.has(tagName)) properties.dir = "auto";
};

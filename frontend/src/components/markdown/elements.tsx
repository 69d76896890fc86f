// React elements for Markdown: no raw HTML, no remote images, and links only to http, https, mailto and our own pages.
import { isValidElement, type ReactNode } from "react";
import type { Components } from "react-markdown";
import { CitationChip } from "./CitationChip.tsx";
import { Code } from "./code/CodeBlock.tsx";
import { isAddress, safeHref } from "./linkTarget.ts";
import { Table } from "./Table.tsx";

interface AnchorProps {
  href?: string | undefined;
  title?: string | undefined;
  children?: ReactNode;
}

export function Anchor({ href, title, children }: AnchorProps) {
  const target = safeHref(href);
  // A URL is left-to-right in every sentence. Link text follows the direction of its sentence.
  const dir = isAddress(textOf(children)) ? "ltr" : undefined;
  if (!target) return <span dir={dir}>{children}</span>;
  return (
    <a href={target} title={title} dir={dir} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

/** A remote image is only named: fetching it would tell another server who reads the answer. */
function Picture({ src, alt }: { src?: string | undefined; alt?: string | undefined }) {
  return (
    <Anchor href={src}>
      [image: <bdi>{alt || "no description"}</bdi>]
    </Anchor>
  );
}

export function textOf(node: ReactNode): string {
  if (Array.isArray(node)) return node.map(textOf).join("");
  if (isValidElement<{ children?: ReactNode }>(node)) return textOf(node.props.children);
  return typeof node === "string" || typeof node === "number" ? String(node) : "";
}

/** The parser stores the language in the class of the code element. */
function languageOf(children: ReactNode): string {
  if (!isValidElement<{ className?: string }>(children)) return "";
  return /language-(\S+)/.exec(children.props.className ?? "")?.[1] ?? "";
}

/** Elements of answers and documents. */
export const elements: Components = {
  a: ({ href, title, children }) => (
    <Anchor href={href} title={title}>
      {children}
    </Anchor>
  ),
  img: ({ src, alt }) => <Picture src={typeof src === "string" ? src : undefined} alt={alt} />,
  code: ({ children }) => <code dir="ltr">{children}</code>,
  pre: ({ children }) => <Code language={languageOf(children)}>{textOf(children)}</Code>,
  table: ({ children }) => <Table>{children}</Table>,
  // An empty heading is not a heading.
  th: ({ children, style }) =>
    children ? (
      <th scope="col" data-align={style?.textAlign}>
        <span className="cell">{children}</span>
      </th>
    ) : (
      <td />
    ),
  td: ({ children, style }) => (
    <td data-align={style?.textAlign}>
      <span className="cell">{children}</span>
    </td>
  ),
  // A checkbox of a task list shows a state and cannot be changed.
  input: ({ checked }) => (
    <span role="img" aria-label={checked ? "Done:" : "To do:"} className="task" data-done={checked} />
  ),
  cite: ({ children, className }) => (
    <CitationChip numbers={(className ?? "").split(",").map(Number)} words={textOf(children)} />
  ),
};

const heading = (Tag: "h3" | "h4", children: ReactNode, dir: string | undefined, size?: string) => (
  <Tag data-size={size} dir={dir}>
    {children}
  </Tag>
);

/** The headings of an answer are below the page's own headings. */
export const answerElements: Components = {
  ...elements,
  h1: ({ children, dir }) => heading("h3", children, dir, "1"),
  h2: ({ children, dir }) => heading("h3", children, dir, "2"),
  h3: ({ children, dir }) => heading("h3", children, dir),
  h4: ({ children, dir }) => heading("h4", children, dir),
  h5: ({ children, dir }) => heading("h4", children, dir),
  h6: ({ children, dir }) => heading("h4", children, dir),
};

// The elements check URLs themselves, with safeHref.
export const keepUrl = (url: string): string => url;

// Markdown to React elements: no raw HTML, no remote images, no link but http, https, mailto and our own guide.
import { isValidElement, memo, type ReactNode, useMemo } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { blocksOf } from "../../run/blocks.ts";
import { isGuide } from "../../run/links.ts";
import { Code } from "./Code.tsx";
import { citations } from "./citations.ts";
import type { ProseProps } from "./Prose.tsx";

/** The address where it may be followed, else undefined. */
export function safeHref(href: string | undefined): string | undefined {
  if (!href) return undefined;
  if (isGuide(href)) return href;
  const url = URL.parse(href);
  return url && ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : undefined;
}

function Anchor({ href, title, children }: { href?: string; title?: string; children?: ReactNode }) {
  const target = safeHref(href);
  if (!target) return <span>{children}</span>;
  return (
    <a href={target} title={title} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

/** An image is named, never fetched: its address would tell a stranger who reads what. */
function Picture({ src, alt }: { src?: string; alt?: string }) {
  const label = `image: ${alt || "no description"}`;
  return src && safeHref(src) ? <Anchor href={src}>[{label}]</Anchor> : <span>[{label}]</span>;
}

/** The language is in the class that the parser gives the code element. */
function languageOf(children: ReactNode): string {
  if (!isValidElement<{ className?: string }>(children)) return "";
  return /language-(\S+)/.exec(children.props.className ?? "")?.[1] ?? "";
}

export const markdownComponents: Components = {
  a: ({ href, title, children, ...rest }) =>
    "data-cite" in rest ? (
      <a className="cite" href={safeHref(href)} title={title} target="_blank" rel="noopener noreferrer">
        {children}
      </a>
    ) : (
      <Anchor {...(href !== undefined && { href })} {...(title !== undefined && { title })}>
        {children}
      </Anchor>
    ),
  img: ({ src, alt }) => <Picture {...(typeof src === "string" && { src })} {...(alt !== undefined && { alt })} />,
  pre: ({ children }) => <Code language={languageOf(children)}>{children}</Code>,
  table: ({ children }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keyboard.
    <section className="table" tabIndex={0} aria-label="Table">
      <table>{children}</table>
    </section>
  ),
  // A heading without words heads nothing.
  th: ({ children }) => (children ? <th scope="col">{children}</th> : <td />),
  // A task list's box shows a state and takes no input.
  input: ({ checked }) => <span>{checked ? "☑" : "☐"} </span>,
};

// Addresses are judged by safeHref, where they become elements.
export const keepUrl = (url: string): string => url;

const Block = memo(function Block({ text, sources }: ProseProps) {
  const plugins = useMemo(() => [remarkGfm, citations(sources)], [sources]);
  return (
    <ReactMarkdown remarkPlugins={plugins} components={markdownComponents} urlTransform={keepUrl}>
      {text}
    </ReactMarkdown>
  );
});

/** Each block is parsed once it stands; while the text grows, only the last is parsed again. */
export default function Markdown({ text, sources }: ProseProps) {
  return blocksOf(text).map((block, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: blocks only ever grow at the end.
    <Block key={index} text={block} sources={sources} />
  ));
}

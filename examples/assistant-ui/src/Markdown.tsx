import { MarkdownTextPrimitive } from "@assistant-ui/react-markdown";
import remarkGfm from "remark-gfm";

const PLUGINS = [remarkGfm];
const COMPONENTS = {
  a: ({ href, children }: { href?: string; children?: React.ReactNode }) => (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  ),
  // The page loads nothing from other servers, so an image of the text is a link.
  img: ({ src, alt }: { src?: string | Blob; alt?: string }) => (
    <a href={String(src)} target="_blank" rel="noopener noreferrer">
      {alt || "Open image"}
    </a>
  ),
};

/** The text of an answer, as it arrives: the animation of `smooth` would lag behind the stream. */
export function Markdown() {
  return <MarkdownTextPrimitive className="text" smooth={false} remarkPlugins={PLUGINS} components={COMPONENTS} />;
}

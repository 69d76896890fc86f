// Where a link of an answer may lead: http, https, mailto and our own documents.
import { isGuide } from "../../run/trace/sources.ts";

/** The address where it may be followed, else undefined. */
export function safeHref(href: string | undefined): string | undefined {
  if (!href) return undefined;
  if (isGuide(href)) return href;
  const url = URL.parse(href);
  // `https://known.example@other.example/` leads elsewhere than it looks.
  if (!url || url.username || url.password) return undefined;
  if (url.protocol === "mailto:") return mailto(url);
  return url.protocol === "http:" || url.protocol === "https:" ? url.href : undefined;
}

/** Whom to write to is the model's word; what is written is the reader's. */
const mailto = (url: URL): string => `mailto:${url.pathname}`;

/** The text is itself an address: of a page, or of somebody's mail. */
export const isAddress = (text: string): boolean => /^(?:[a-z][a-z+.-]*:\/\/|www\.|[^\s@]+@[^\s@]+$)\S*$/i.test(text);

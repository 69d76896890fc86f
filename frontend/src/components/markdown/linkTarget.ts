// The allowed targets of links in an answer: http, https, mailto and our own documents.
import { serverPath } from "../../logic/baseUrl.ts";
import { isGuide } from "../../logic/trace/sources.ts";

/** Return the URL if it may be followed, otherwise undefined. */
export function safeHref(href: string | undefined): string | undefined {
  if (!href) return undefined;
  if (isGuide(href)) return serverPath(href);
  const url = URL.parse(href);
  // `https://known.example@other.example/` hides its real host.
  if (!url || url.username || url.password) return undefined;
  if (url.protocol === "mailto:") return mailto(url);
  return url.protocol === "http:" || url.protocol === "https:" ? url.href : undefined;
}

/** The model may suggest a recipient, but no subject or text. */
const mailto = (url: URL): string => `mailto:${url.pathname}`;

/** Whether the text itself is a URL or an email address. */
export const isAddress = (text: string): boolean => /^(?:[a-z][a-z+.-]*:\/\/|www\.|[^\s@]+@[^\s@]+$)\S*$/i.test(text);

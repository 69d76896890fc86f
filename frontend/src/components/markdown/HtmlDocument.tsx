// The text of an HTML file. Nothing in it is executed or loaded.
import { createElement, useMemo } from "react";
import { slugger } from "../../logic/markdown/headingSlugs.ts";

interface Block {
  tag: string;
  id?: string;
  text: string;
}

const BLOCKS = "h1,h2,h3,h4,h5,h6,p,li,pre,dt,dd,tr,blockquote";
const SILENT = "script,style,template,noscript,svg,nav,head";

/** A document from DOMParser is inert: it runs no scripts and fetches nothing. */
function blocksOf(html: string): Block[] {
  const { body } = new DOMParser().parseFromString(html, "text/html");
  for (const silent of body.querySelectorAll(SILENT)) silent.remove();
  const slug = slugger();
  const leaves = [...body.querySelectorAll<HTMLElement>(BLOCKS)].filter((block) => !block.querySelector(BLOCKS));
  const blocks = leaves.map((block): Block => {
    const tag = block.localName;
    if (tag === "pre") return { tag, text: block.textContent };
    const text = block.textContent.replaceAll(/\s+/g, " ").trim();
    return /^h\d$/.test(tag) ? { tag, text, id: block.id || slug(text) } : { tag: "p", text };
  });
  return blocks.length > 0 ? blocks.filter(({ text }) => text) : [{ tag: "pre", text: body.textContent.trim() }];
}

export function HtmlDocument({ html }: { html: string }) {
  const blocks = useMemo(() => blocksOf(html), [html]);
  return blocks.map(({ tag, id, text }, index) =>
    createElement(tag, { key: index, id, dir: "auto", ...(tag === "pre" && { className: "plain" }) }, text),
  );
}

// Makes one document of a page and the files that it references.
import { pathOf } from "./paths.ts";
import { type Files, MODULES, resolved, resolvedCss, resolvedModule, resolvedSrcset } from "./references.ts";

interface Workspace extends Files {
  /** The paths of all scripts. */
  scripts: () => readonly string[];
  /** The address of a script with other text than its file. */
  addressOfScript: (text: string) => string;
}

/** `withScripts`: scripts get the text of their files. */
export function inlinePage(html: string, entry: string, files: Workspace, withScripts: boolean): Document {
  const page = new DOMParser().parseFromString(html, "text/html");
  inlineSheets(page, entry, files);
  inlineAddresses(page, entry, files);
  if (withScripts) inlineScripts(page, entry, files);
  else removeScripts(page);
  // The frame would leave for another page.
  for (const meta of page.querySelectorAll("meta[http-equiv], base")) meta.remove();
  return page;
}

function inlineSheets(page: Document, entry: string, files: Files): void {
  for (const link of page.querySelectorAll("link")) {
    const path = pathOf(link.getAttribute("href") ?? "", entry);
    const css = path === undefined ? undefined : files.text(path);
    if (!link.relList.contains("stylesheet") || path === undefined || css === undefined) {
      // Nothing else can be loaded. An icon has no place in a preview.
      link.remove();
      continue;
    }
    const style = page.createElement("style");
    style.textContent = resolvedCss(css, path, files);
    if (link.media) style.media = link.media;
    link.replaceWith(style);
  }
  for (const style of page.querySelectorAll("style")) style.textContent = resolvedCss(style.textContent, entry, files);
}

const ADDRESSES = ["src", "poster", "href", "xlink:href"] as const;

function inlineAddresses(page: Document, entry: string, files: Files): void {
  for (const element of page.querySelectorAll("img, source, video, audio, track, input, image, use, feImage")) {
    for (const name of ADDRESSES) {
      const reference = element.getAttribute(name);
      if (reference) element.setAttribute(name, resolved(reference, entry, files));
    }
    const srcset = element.getAttribute("srcset");
    if (srcset) element.setAttribute("srcset", resolvedSrcset(srcset, entry, files));
  }
  for (const element of page.querySelectorAll("[style]")) {
    const style = element.getAttribute("style") ?? "";
    if (style.includes("url(")) element.setAttribute("style", resolvedCss(style, entry, files));
  }
}

/** The policy of a draft blocks them anyway. Without them, it reports nothing. */
function removeScripts(page: Document): void {
  for (const script of page.querySelectorAll("script")) script.remove();
  for (const element of page.querySelectorAll("*"))
    for (const { name } of [...element.attributes]) if (/^on/i.test(name)) element.removeAttribute(name);
}

function inlineScripts(page: Document, entry: string, files: Workspace): void {
  let hasModules = false;
  for (const script of page.querySelectorAll("script")) {
    const isModule = script.type === "module";
    hasModules ||= isModule;
    const source = script.getAttribute("src");
    const path = source === null ? entry : pathOf(source, entry);
    const text = source === null ? script.textContent : path === undefined ? undefined : files.text(path);
    if (path === undefined || text === undefined) continue;
    const whole = isModule ? resolvedModule(text, path) : text;
    // An address keeps the order of `defer`, and text that would end the element.
    if (source !== null) script.src = files.addressOfScript(whole);
    else script.textContent = whole;
  }
  if (hasModules) page.head.prepend(importMap(page, files));
}

function importMap(page: Document, files: Workspace): HTMLScriptElement {
  const imports = files
    .scripts()
    .map((path) => [MODULES + path, files.addressOfScript(resolvedModule(files.text(path) ?? "", path))]);
  const map = page.createElement("script");
  map.type = "importmap";
  map.textContent = JSON.stringify({ imports: Object.fromEntries(imports) });
  return map;
}

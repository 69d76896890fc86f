// The script of the preview frame (backend/signalbox/app/asgi/preview_frame.py). It shows the files that the page sends.
// Scripts of these files run in the same document, so nothing that this script reports can be trusted.
import type { FromFrame, LogLevel, ScrollPosition, ToFrame } from "../types/previewFrame.ts";
import { inlinePage } from "./inlinePage.ts";
import { morph } from "./morph.ts";
import { pathOf } from "./paths.ts";
import { FrameFiles } from "./workspace.ts";

const page = window.parent;
const files = new FrameFiles();
let entry = "";
let isLive = false;

// Any parent may embed this document, but the content security policy allows only this server's page.
const report = (message: FromFrame): void => page.postMessage(message, "*");

function onMessage({ source, data }: MessageEvent<ToFrame>): void {
  if (source !== page) return;
  if (data.type === "files") show(data);
  else if (data.type === "snapshot")
    report({ type: "snapshot", html: files.restored(document.documentElement.outerHTML) });
  else report({ type: "pong" });
}

function show(message: Extract<ToFrame, { type: "files" }>): void {
  files.change(message);
  ({ entry } = message);
  isLive = message.mode === "live";
  const next = inlinePage(files.text(entry) ?? "", entry, files, isLive);
  if (isLive) write(next, message.scroll);
  else {
    morph(document.documentElement, next.documentElement);
    if (message.mode === "print") void printWhenLoaded();
    else report({ type: "shown", isEmpty: isEmpty() });
  }
}

/** The document is parsed again: scripts run, and events of loading happen. It can be written only once. */
function write(next: Document, { x, y }: ScrollPosition): void {
  document.open();
  listen();
  document.addEventListener("DOMContentLoaded", () => {
    window.scrollTo(x, y);
    report({ type: "shown", isEmpty: false });
  });
  document.write(`<!doctype html>${next.documentElement.outerHTML}`);
  document.close();
}

/** The page removes the frame when the dialog is closed. */
async function printWhenLoaded(): Promise<void> {
  await Promise.allSettled([...document.images].map((image) => image.decode()));
  window.print();
  report({ type: "shown", isEmpty: false });
}

const isEmpty = (): boolean =>
  document.body.textContent.trim() === "" && !document.body.querySelector("img, svg, canvas, video, picture");

/** After the handlers of the shown page, which may have handled the click. */
function onClick(event: MouseEvent): void {
  const target = event.target instanceof Element ? event.target : undefined;
  if (event.defaultPrevented || !target) return;
  const link = target.closest("a[href], area[href]")?.getAttribute("href");
  const button = target.closest<HTMLButtonElement | HTMLInputElement>("button, input[type=submit], input[type=image]");
  if (link) follow(event, link);
  else if (button?.form && button.type !== "button" && button.type !== "reset") submit(event, button.form, button);
}

/** The page follows links to files, and links to other sites after the reader has agreed. */
function follow(event: MouseEvent, reference: string): void {
  if (reference.startsWith("#") || reference.startsWith("javascript:")) return;
  event.preventDefault();
  const path = pathOf(reference, entry);
  if (path !== undefined && files.has(path)) report({ type: "open", path });
  else if (/^(https?:)?\/\/|^mailto:/i.test(reference))
    report({ type: "link", url: new URL(reference, "https://unknown.invalid").href });
  else log("warning", `The link to "${reference}" leads to no file.`);
}

/** A sandbox without forms drops the event, but many pages handle it and send nothing. */
function submit(event: MouseEvent, form: HTMLFormElement, submitter: HTMLElement): void {
  event.preventDefault();
  if (!isLive || (!form.noValidate && !form.reportValidity())) return;
  const isUnhandled = form.dispatchEvent(new SubmitEvent("submit", { bubbles: true, cancelable: true, submitter }));
  if (isUnhandled) log("warning", "The form was not sent: previews cannot send anything.");
}

const LOGGED: readonly (readonly ["error" | "warn" | "log" | "info", LogLevel])[] = [
  ["error", "error"],
  ["warn", "warning"],
  ["log", "info"],
  ["info", "info"],
];
const LONGEST = 2000;

const log = (level: LogLevel, text: string): void => report({ type: "log", level, text: text.slice(0, LONGEST) });

function watchConsole(): void {
  for (const [name, level] of LOGGED) {
    const before = console[name].bind(console);
    console[name] = (...values: unknown[]) => {
      log(level, values.map(textOf).join(" "));
      before(...values);
    };
  }
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (value instanceof Error) return String(value);
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}

/** `document.open` removes all listeners. */
function listen(): void {
  window.addEventListener("message", onMessage);
  window.addEventListener("click", onClick);
  window.addEventListener("error", ({ message, lineno }) =>
    log("error", lineno ? `${message} (line ${lineno})` : message),
  );
  window.addEventListener("unhandledrejection", ({ reason }) => log("error", `Unhandled rejection: ${textOf(reason)}`));
  document.addEventListener("securitypolicyviolation", ({ blockedURI, effectiveDirective }) => {
    if (isLive)
      log("warning", `Blocked: ${blockedURI} (${effectiveDirective}). Previews load nothing from the network.`);
  });
  window.addEventListener(
    "scroll",
    () => report({ type: "scroll", scroll: { x: window.scrollX, y: window.scrollY } }),
    {
      passive: true,
    },
  );
}

// The policy has no directive for connections between browsers.
for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection"]) Reflect.deleteProperty(window, name);
watchConsole();
listen();
report({ type: "ready" });

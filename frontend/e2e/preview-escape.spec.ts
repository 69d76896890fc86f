// Code in the preview frame tries to reach the page, its storage, the API and other servers. Each attempt fails.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "./support/page.ts";
import { logged, previewOf, reported, sendToFrame, showPreview } from "./support/previewFrame.ts";

type Attempts = Readonly<Record<string, string>>;

/** A page that makes the attempts one after another, and logs the value or the error of each. */
const pageWith = (attempts: Attempts) => ({
  "index.html": `<p>shown</p><script>(async () => {
    ${Object.entries(attempts)
      .map(([what, script]) => tried(what, script.replaceAll("OTHER", other())))
      .join("\n")}
    console.log("all tried");
  })();</script>`,
});

const tried = (what: string, script: string) => `
  try { console.log(${JSON.stringify(what)} + ": " + await (async () => { ${script} })()); }
  catch (error) { console.log(${JSON.stringify(what)} + " failed: " + error.name); }`;

/** Everything that the attempts cause: reports of the policy and of the sandbox, and refused requests. */
const EXPECTED = [
  /content security policy|sandbox|Failed to load|Blocked|ERR_|refused|asked a third party: (ws|http)/i,
];

let elsewhere: Server;
let asked: string[];

test.beforeAll(async () => {
  elsewhere = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.setHeader("access-control-allow-origin", "*").end("secret");
  });
  await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", () => resolve()));
});
test.afterAll(() => {
  elsewhere.close();
});
test.beforeEach(async ({ page, faults }) => {
  asked = [];
  for (const fault of EXPECTED) faults.allow(fault);
  await page.goto("/");
  await page.evaluate(() => localStorage.setItem("signalbox.token", "a secret"));
});

const other = () => `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;

/** A promise of the first of two events. The second one rejects. */
const either = (made: string, open: string, fail: string) =>
  `const it = ${made}; return new Promise((yes, no) => { it.${open} = () => yes(1); it.${fail} = () => no(new Error()); });`;

const FAILING: Attempts = {
  "local storage": "return localStorage.getItem('signalbox.token')",
  "session storage": "return sessionStorage.length",
  cookies: "return document.cookie",
  IndexedDB: either("indexedDB.open('x')", "onsuccess", "onerror"),
  caches: "return caches.keys()",
  "the API with fetch": "return (await fetch('/api/conversations')).text()",
  "the API with XMLHttpRequest": `const it = new XMLHttpRequest(); it.open('GET', '/api/runs');
    return new Promise((yes, no) => { it.onload = () => yes(it.responseText); it.onerror = () => no(new Error()); it.send(); });`,
  "another server with fetch": "return (await fetch('OTHER/fetch')).text()",
  "another server without CORS": "return fetch('OTHER/opaque', { mode: 'no-cors' })",
  "another server with EventSource": either("new EventSource('OTHER/sse')", "onopen", "onerror"),
  "another server with a WebSocket": either("new WebSocket('OTHER/ws'.replace('http', 'ws'))", "onopen", "onerror"),
  "the page's document": "return parent.document.title",
  "the page's functions": "return parent.fetch.name",
  "the frame's element": "return frameElement.outerHTML",
  "the top window's address": "top.location.href = 'OTHER/top'",
  "a service worker": "return navigator.serviceWorker.register('/sw.js')",
  "a worker of this server": either("new Worker('/theme.js')", "onmessage", "onerror"),
  eval: "return eval('1 + 1')",
  "another script": "return import('OTHER/module.js')",
  "a connection between browsers": "return new RTCPeerConnection().connectionState",
};

test("code in the frame cannot read the page, its storage or the API, and cannot reach other servers", async ({
  page,
}) => {
  const url = page.url();
  await showPreview(page, pageWith(FAILING));
  await expect.poll(() => logged(page)).toContain("all tried");
  const results = (await logged(page)).filter((text) => Object.keys(FAILING).some((what) => text.startsWith(what)));
  for (const [place, what] of Object.keys(FAILING).entries())
    expect.soft(results[place]).toMatch(new RegExp(`^${what} failed: \\w*Error$`));
  expect([asked, page.url()]).toEqual([[], url]);
});

/** They do not throw. Nothing opens, and nothing is sent. */
const SILENT: Attempts = {
  "a popup": "return window.open('OTHER/popup')",
  "a beacon": "navigator.sendBeacon('OTHER/beacon', 'x')",
  dialogs: "alert('x'); return [confirm('x'), prompt('x')]",
  "an image": "new Image().src = 'OTHER/image.png'",
  "a style sheet": `document.head.insertAdjacentHTML('beforeend', '<link rel=stylesheet href="OTHER/style.css">')`,
  "a form": "const f = document.body.appendChild(document.createElement('form')); f.action = 'OTHER/form'; f.submit()",
  "a frame": `document.body.insertAdjacentHTML('beforeend', '<iframe src="OTHER/frame"></iframe>')`,
  "a download": "Object.assign(document.createElement('a'), { href: 'data:text/plain,x', download: 'x' }).click()",
  "a new tab": "Object.assign(document.createElement('a'), { href: 'OTHER/tab', target: '_blank' }).click()",
  "the top window": "Object.assign(document.createElement('a'), { href: 'OTHER/top', target: '_top' }).click()",
  "time for the requests": "await new Promise((go) => setTimeout(go, 500))",
};

test("code in the frame cannot open anything or send anything", async ({ page, context }) => {
  const opened: string[] = [];
  context.on("page", () => opened.push("page"));
  page.on("dialog", () => opened.push("dialog"));
  page.on("download", () => opened.push("download"));
  const url = page.url();
  await showPreview(page, pageWith(SILENT));
  await expect.poll(() => logged(page)).toContain("all tried");
  expect(await logged(page)).toEqual(expect.arrayContaining(["a popup: null", "dialogs: false,"]));
  expect([opened, asked, page.url()]).toEqual([[], [], url]);
});

for (const target of ["OTHER/left", "/api/conversations", "/", "data:text/html,<p>left</p>"])
  test(`the frame cannot leave for ${target}`, async ({ page }) => {
    const requests: string[] = [];
    page.on("response", (response) => response.frame() !== page.mainFrame() && requests.push(response.url()));
    const leaving = `location.href = '${target.replaceAll("OTHER", other())}'`;
    await showPreview(page, { "index.html": `<script>${leaving}</script>` }, { wait: false });
    await expect.poll(() => page.frames().at(-1)?.url()).toMatch(/^chrome-error:/);
    expect([asked, requests.filter((url) => !url.includes("preview-frame"))]).toEqual([[], []]);
  });

test("an endless loop in the frame leaves the page usable, and a new frame runs", async ({ page }) => {
  await showPreview(page, { "index.html": "<p>before</p><script>setTimeout(() => { for (;;); }, 50)</script>" });
  await page.waitForTimeout(300);
  await sendToFrame(page, { type: "ping" });
  const slowest = await page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        let last = performance.now();
        let slowest = 0;
        const until = last + 1000;
        const frame = (now: number) => {
          slowest = Math.max(slowest, now - last);
          last = now;
          if (now < until) requestAnimationFrame(frame);
          else resolve(slowest);
        };
        requestAnimationFrame(frame);
      }),
  );
  expect(slowest).toBeLessThan(1000);
  expect(await reported(page)).not.toContainEqual({ type: "pong" });
  await showPreview(page, { "index.html": "<p>after</p>" });
  await expect(previewOf(page).getByText("after")).toBeVisible();
});

// The page in an app that mounts Signalbox under a path, and in frames of other origins.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import OpenAI from "openai";
import { ask, ended, expect, message, type Page, REFUSED, test } from "./support/page.ts";
import { type OwnServer, ownServer } from "./support/server.ts";

const PREFIX = "/team/chat";
const HOST = ["uvicorn", "host:app", "--app-dir", fileURLToPath(new URL("./clients", import.meta.url))];

let allowed: Server;
let other: Server;
let server: OwnServer;

test.beforeAll(async () => {
  allowed = await framing();
  other = await framing();
  server = await ownServer({ SIGNALBOX_FRAME_ANCESTORS: originOf(allowed) }, { command: HOST, under: PREFIX });
  await server.start();
});
test.afterAll(async () => {
  await server.kill();
  allowed.close();
  other.close();
});

/** Requests outside of the prefix, and responses with an error status. */
function faultsOf(page: Page): string[] {
  const found: string[] = [];
  page.on("response", (response) => {
    const { pathname } = new URL(response.url());
    if (response.status() >= 400 || !pathname.startsWith(`${PREFIX}/`)) found.push(`${response.status()} ${pathname}`);
  });
  return found;
}

test("answers under the prefix, and shows the chat again after a reload", async ({ page }) => {
  const faults = faultsOf(page);
  await page.goto(`${server.url}${PREFIX}/`);
  await ask(page, "What is 17 * 23?");
  await ended(page);
  await expect(page.locator("[data-part=answer]").last()).toContainText("391");
  expect(new URL(page.url()).pathname).toBe(`${PREFIX}/`);
  await page.reload();
  await expect(page.locator("[data-part=answer]").last()).toContainText("391");
  const keys = await page.evaluate(() => Object.keys({ ...localStorage, ...sessionStorage }));
  expect(keys.filter((key) => !key.includes("/team/chat"))).toEqual([]);
  expect(faults).toEqual([]);
});

test("links its other pages under the prefix", async ({ page }) => {
  const faults = faultsOf(page);
  await page.goto(`${server.url}${PREFIX}/`);
  await page.getByRole("link", { name: "Guide" }).click();
  await page.getByRole("article").getByRole("link", { name: "first-answer.md" }).first().click();
  await expect(page).toHaveURL(`${server.url}${PREFIX}/guide/first-answer.md`);
  await page
    .getByRole("link", { name: "README" })
    .or(page.getByRole("heading", { level: 1 }))
    .first()
    .waitFor();
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "API" }).click();
  await expect(page.getByRole("link", { name: "/openapi.json" })).toHaveAttribute("href", `${PREFIX}/openapi.json`);
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Operator" }).click();
  await expect(page).toHaveURL(`${server.url}${PREFIX}/operator`);
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Chat" }).click();
  await expect(message(page)).toBeVisible();
  expect(faults).toEqual([]);
});

test("answers the OpenAI SDK with a base URL under the prefix", async () => {
  const client = new OpenAI({ baseURL: `${server.url}${PREFIX}/v1`, apiKey: "none", maxRetries: 0 });
  expect((await client.models.list()).data.map(({ id }) => id)).toContain("openai/sim");
  const messages = [{ role: "user" as const, content: "What is 17 * 23?" }];
  let text = "";
  for await (const chunk of await client.chat.completions.create({ model: "openai/sim", messages, stream: true }))
    text += chunk.choices[0]?.delta.content ?? "";
  expect(text).toContain("391");
});

test("answers in a frame of an origin that the setting lists", async ({ page, faults }) => {
  faults.allow(/Blocked autofocusing/);
  await page.goto(framed(allowed));
  const chat = page.frameLocator("iframe");
  await chat.getByRole("textbox", { name: "Message" }).fill("What is 17 * 23?");
  await chat.getByRole("textbox", { name: "Message" }).press("Enter");
  await expect(chat.locator("[data-part=answer]").last()).toContainText("391");
});

test("stays empty in a frame of any other origin", async ({ page, faults }) => {
  faults.allow(/frame-ancestors/);
  faults.allow(REFUSED);
  const blocked = page.waitForEvent("console", (line) => line.text().includes("frame-ancestors"));
  await page.goto(framed(other));
  await blocked;
  await expect(page.frameLocator("iframe").getByRole("textbox", { name: "Message" })).toHaveCount(0);
});

const originOf = (made: Server): string => `http://127.0.0.1:${(made.address() as AddressInfo).port}`;
const framed = (made: Server): string => `${originOf(made)}/?${encodeURIComponent(`${server.url}${PREFIX}/`)}`;

/** Serve a page with the address of its query in a frame. */
async function framing(): Promise<Server> {
  const made = createServer(({ url = "" }, response) => {
    const address = decodeURIComponent(url.split("?")[1] ?? "");
    response.writeHead(200, { "content-type": "text/html" });
    response.end(
      `<!doctype html><link rel="icon" href="data:,"><iframe src="${address}" width="1000" height="700"></iframe>`,
    );
  }).listen(0, "127.0.0.1");
  await once(made, "listening");
  return made;
}

test("previews a page under the prefix", async ({ page }) => {
  const faults = faultsOf(page);
  await page.setViewportSize({ width: 1400, height: 900 });
  await page.goto(`${server.url}${PREFIX}/`);
  await ask(page, "Build a landing page for a bakery called “Crumb”");
  await ended(page);
  const panel = page.locator("[data-part=files]");
  await expect(panel).toContainText("version 1");
  await expect(panel.frameLocator("iframe").getByRole("heading", { level: 1, name: "Crumb" })).toBeVisible();
  expect(faults).toEqual([]);
});

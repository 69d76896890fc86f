// The `openai` package in a page of another origin, which SIGNALBOX_ALLOWED_ORIGINS lists.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { expect, type Page, test } from "@playwright/test";
import { build } from "vite";
import { type OwnServer, ownServer } from "./support/server.ts";

const TOKEN = "a-token-in-a-test";
const ENTRY = fileURLToPath(new URL("./clients/openai-page.mjs", import.meta.url));

let allowed: Server;
let other: Server;
let server: OwnServer;

test.beforeAll(async () => {
  const script = await bundled();
  allowed = await serve(script);
  other = await serve(script);
  server = await ownServer({ SIGNALBOX_ACCESS_TOKEN: TOKEN, SIGNALBOX_ALLOWED_ORIGINS: originOf(allowed) });
  await server.start();
});
test.afterAll(async () => {
  await server.kill();
  allowed.close();
  other.close();
});

test("answers whole, and shows the headers of the run", async ({ page }) => {
  await page.goto(originOf(allowed));
  const answer = await call(page, "whole", TOKEN);
  expect(answer).toEqual({
    id: answer?.run,
    run: expect.stringMatching(/^[0-9a-f]{32}$/),
    text: "`17 * 23` = **391**",
  });
});

test("streams", async ({ page }) => {
  await page.goto(originOf(allowed));
  expect(await call(page, "streamed", TOKEN)).toEqual({ text: "`17 * 23` = **391**", tokens: expect.any(Number) });
});

test("cancels the run of a stream that the page stops reading", async ({ page }) => {
  await page.goto(originOf(allowed));
  const run = (await call(page, "stopped", TOKEN))?.id;
  const status = async () => {
    const answer = await fetch(`${server.url}/api/runs/${run}`, { headers: { authorization: `Bearer ${TOKEN}` } });
    return ((await answer.json()) as { status: string }).status;
  };
  await expect.poll(status).toBe("cancelled");
});

test("reads why a token is rejected", async ({ page }) => {
  await page.goto(originOf(allowed));
  const failure = { isUnreachable: false, status: 401, code: "invalid_api_key" };
  expect(await call(page, "failed", "not-the-token")).toEqual(failure);
});

test("cannot send from an origin that is not listed", async ({ page }) => {
  await page.goto(originOf(other));
  expect(await call(page, "failed", TOKEN)).toEqual({ isUnreachable: true, status: null, code: null });
});

type Call = (url: string, token: string) => Promise<Record<string, unknown>>;

/** Call a function of openai-page.mjs in the page. */
function call(page: Page, name: string, token: string): Promise<Record<string, unknown> | undefined> {
  const given = { name, url: server.url, token };
  return page.evaluate(
    ({ name, url, token }) => (globalThis as unknown as Record<string, Call>)[name]?.(url, token),
    given,
  );
}

/** Bundle the script for a browser, as an application does. */
async function bundled(): Promise<string> {
  const library = { entry: ENTRY, formats: ["es" as const] };
  const [made] = [await build({ configFile: false, logLevel: "error", build: { write: false, lib: library } })].flat();
  if (!made || !("output" in made)) throw new Error("The build watches instead of building.");
  return made.output[0].code;
}

/** Serve a page with the script from a separate origin. */
async function serve(script: string): Promise<Server> {
  const server = createServer((request, response) => {
    const [type, text] =
      request.url === "/openai.js"
        ? ["text/javascript", script]
        : ["text/html", '<script type="module" src="openai.js"></script>'];
    response.writeHead(200, { "content-type": type }).end(text);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

function originOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

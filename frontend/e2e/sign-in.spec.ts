// A server where people sign in at a provider: sign in, chat, lose the session, sign out.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { ADMIN_TOKEN, ask, ended, expect, expectAccessible, type Page, REFUSED, test } from "./support/page.ts";
import { type OwnServer, ownServer } from "./support/server.ts";

let provider: ChildProcess;
let server: OwnServer;

test.beforeAll(async () => {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  provider = spawn("python", ["-m", "tests.support.oidc_provider", "0"], {
    cwd: root,
    stdio: ["pipe", "pipe", "ignore"],
  });
  const [issuer] = (await once(provider.stdout as NodeJS.ReadableStream, "data")) as [Buffer];
  server = await ownServer({
    SIGNALBOX_OIDC_ISSUER: issuer.toString().trim(),
    SIGNALBOX_OIDC_CLIENT_ID: "signalbox",
    SIGNALBOX_OIDC_CLIENT_SECRET: "secret-of-the-client",
    SIGNALBOX_SIMULATOR_PACE: "0",
    SIGNALBOX_ADMIN_TOKEN: ADMIN_TOKEN,
  });
  await server.start();
});
test.afterAll(async () => {
  await server.kill();
  provider.kill();
});
test.beforeEach(({ faults }) => faults.allow(REFUSED));

const gate = (page: Page) => page.getByRole("dialog", { name: "Sign in" });

async function signIn(page: Page): Promise<void> {
  await gate(page).getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("button", { name: /^Model: .*sim/i })).toBeVisible();
}

test("signs in, chats, keeps a message over an ended session, and signs out", async ({ page, context }) => {
  await page.goto(server.url);
  await expect(gate(page)).toContainText("This server is private.");
  await expectAccessible(page);
  await signIn(page);
  await expect(gate(page)).toHaveCount(0);
  await ask(page, "Hello!");
  await ended(page);

  // The session ends elsewhere. The message that is sent next waits for the sign-in.
  await context.clearCookies();
  await ask(page, "Hello again!");
  await signIn(page);
  // The simulated answer quotes the message.
  await expect(page.getByText("Hello again!", { exact: true })).toBeVisible();
  await ended(page);

  await page.getByRole("button", { name: "Settings" }).first().click();
  const account = page.getByRole("region", { name: "Account" });
  await expect(account).toContainText("Signed in as Ada Lovelace.");
  await account.getByRole("button", { name: "Sign out" }).click();
  await expect(gate(page)).toBeVisible();
  expect((await context.cookies()).filter(({ name }) => name.startsWith("signalbox"))).toEqual([]);
});

test("the operator ends a person's session on the operator page", async ({ page, browser }) => {
  await page.goto(server.url);
  await signIn(page);

  const other = await browser.newContext({ baseURL: server.url });
  const operator = await other.newPage();
  await operator.goto("/operator#sessions");
  await operator.getByRole("button", { name: "Use a token" }).click();
  await operator.getByRole("textbox", { name: "Operator token" }).fill(ADMIN_TOKEN);
  await operator.keyboard.press("Enter");
  const rows = operator.locator("[data-part=session]");
  await expect(rows.first()).toContainText("Ada Lovelace");
  await expectAccessible(operator);
  const count = await rows.count();
  await rows.first().getByRole("button", { name: "End the session of Ada Lovelace" }).click();
  await expectAccessible(operator);
  await operator.getByRole("dialog").getByRole("button", { name: "End", exact: true }).click();
  await expect(rows).toHaveCount(count - 1);
  await other.close();

  // All workers reject the session within a second.
  await expect.poll(async () => (await page.request.get(`${server.url}/api/runs`)).status()).toBe(401);
  await ask(page, "Hello?");
  await expect(gate(page)).toBeVisible();
});

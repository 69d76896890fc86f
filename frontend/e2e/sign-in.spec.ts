// A server where people sign in at a provider: sign in, chat, lose the session, sign out.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { ask, ended, expect, expectAccessible, type Page, REFUSED, test } from "./support/page.ts";
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

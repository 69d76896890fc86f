// The sections of the operator page.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { ADMIN_TOKEN, enterToken, expect, expectAccessible, test } from "./support/page.ts";

const HEADERS = { authorization: `Bearer ${ADMIN_TOKEN}` };

test("runs are found by a filter that is in the address, and drawn as charts", async ({ page, request }) => {
  const ask = (model: string, loop: string) =>
    request.post("/api/chat", { headers: { "x-tool-loop": loop }, data: { model, prompt: "What is a run?" } });
  await ask("openai/sim", "v2");
  await ask("openai/sim-length", "legacy");

  await page.goto("/operator#runs");
  await page.getByRole("combobox", { name: "Loop" }).selectOption("legacy");
  await page.getByRole("combobox", { name: "Model" }).fill("openai/sim-length");
  await expect(page).toHaveURL(/\/operator\?loop=legacy&model=openai%2Fsim-length#runs$/);
  const rows = page.locator("[data-part=run]");
  await expect(page.getByRole("heading", { name: "Matching runs" })).toBeVisible();
  await expect(rows.filter({ hasNotText: "openai/sim-length" })).toHaveCount(0);
  await expect(rows.first()).toContainText("legacy");
  await expectAccessible(page);

  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export NDJSON" }).click();
  expect((await download).suggestedFilename()).toBe("runs.ndjson");

  await page.reload();
  await expect(rows.first()).toContainText("openai/sim-length");
  await page.getByRole("link", { name: "Charts" }).click();
  const outcomes = page.getByRole("figure", { name: "Outcomes of loop legacy" });
  await expect(outcomes.locator("canvas")).toBeVisible();
  await outcomes.getByText("Show as table").click();
  await expect(outcomes.getByRole("row")).not.toHaveCount(1);
  await expectAccessible(page);
});

test("a token is created, works, and is revoked", async ({ page, request, playwright, baseURL }) => {
  const name = `Grace ${Date.now()}`;
  await page.goto("/operator#tokens");
  await enterToken(page);
  await page.getByRole("button", { name: "Create token" }).click();
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Runs at once").fill("2");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Create", exact: true }).click();
  const text = await page.locator("[data-part=secret]").textContent();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Done" }).click();
  await expect(page.locator("[data-part=token]", { hasText: name })).toContainText("2 runs at once");
  await expectAccessible(page);

  const user = await playwright.request.newContext({
    baseURL: baseURL ?? "",
    extraHTTPHeaders: { authorization: `Bearer ${text}` },
  });
  expect((await user.get("/api/runs")).status()).toBe(200);
  await page.getByRole("button", { name: `Revoke ${name}` }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await expect(page.locator("[data-part=token]", { hasText: name })).toContainText("Revoked");
  const { tokens } = await (await request.get("/api/tokens", { headers: HEADERS })).json();
  expect(tokens.find((token: { name: string }) => token.name === name).revoked).not.toBeNull();
  await expect.poll(async () => (await user.get("/api/runs")).status()).toBe(401);
  await user.dispose();
});

test("costs are added up, drawn and downloaded, with what is left of a budget", async ({ page, request }) => {
  const name = `Budget ${Date.now()}`;
  const created = await request.post("/api/tokens", { headers: HEADERS, data: { name, budget_day: 5 } });
  const { id, token } = await created.json();
  const headers = { authorization: `Bearer ${token}` };
  await request.post("/api/chat", { headers, data: { model: "openai/sim", prompt: "What is a run?" } });

  await page.goto("/operator#spend");
  await enterToken(page);
  const row = page.locator("[data-part=spend]", { hasText: name });
  await expect(row).toContainText(`${name}${id}`);
  await expect(page.locator("[data-part=budget]", { hasText: name })).toContainText(/of \$5\.00 used · \$4\.\d+ left/);
  await expect(page.getByRole("figure", { name: "Cost per day (UTC)" }).locator("canvas")).toBeVisible();
  await expectAccessible(page);

  await page.getByRole("combobox", { name: "Added up" }).selectOption("By model");
  await expect(page.locator("[data-part=spend]", { hasText: "openai/sim" }).first()).toBeVisible();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download CSV" }).click();
  expect((await download).suggestedFilename()).toMatch(/^spend-by-model-.*\.csv$/);
});

test("a webhook is added, tested and deleted, and its log has the reason of a failure", async ({ page }) => {
  const received: string[] = [];
  const receiver = createServer((request, response) => {
    received.push(request.url ?? "");
    response.writeHead(received.length === 1 ? 204 : 503).end();
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  const name = `Inbox ${Date.now()}`;
  try {
    await page.goto("/operator#webhooks");
    await enterToken(page);
    await page.getByRole("button", { name: "Add webhook" }).click();
    await page.getByLabel("URL").fill(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`);
    await page.getByLabel("Description").fill(name);
    await expectAccessible(page);
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await expect(page.locator("[data-part=secret]")).toContainText(/^whsec_/);
    await page.getByRole("button", { name: "Done" }).click();

    const row = page.locator("[data-part=webhook]", { hasText: name });
    const send = page.getByRole("button", { name: `Send test: ${name}` });
    await send.click();
    await expect(row.getByRole("status")).toContainText("Test event delivered. Status 204");
    await send.click();
    await expect(row.getByRole("status")).toContainText("Test event not delivered. Status 503");
    expect(received).toEqual(["/hooks", "/hooks"]);
    await expectAccessible(page);

    await page.getByRole("button", { name: `Deliveries: ${name}` }).click();
    const deliveries = page.locator("[data-part=delivery]");
    await expect(deliveries).toHaveCount(2);
    await expect(deliveries.first()).toContainText(/webhook\.test ?Failed.*Status 503/);
    await expectAccessible(page);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: `Delete: ${name}` }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await expect(row).toHaveCount(0);
  } finally {
    receiver.close();
  }
});

test("shadow mode says that it is off, and how to switch it on", async ({ page }) => {
  await page.goto("/operator#shadow");
  await expect(page.getByText("Only the operator can see shadow mode.")).toBeVisible();
  await enterToken(page);
  await expect(page.getByText("Shadow mode is off.")).toBeVisible();
  await expect(page.getByText("SIGNALBOX_SHADOW_PERCENT")).toBeVisible();
  await expectAccessible(page);
});

test("the audit log says who has changed what", async ({ page, request }) => {
  const group = `audited-${Date.now()}`;
  await request.put(`/api/groups/${group}`, { headers: HEADERS, data: { budget_day: 5 } });
  await request.put(`/api/groups/${group}`, { headers: HEADERS, data: { budget_day: 7 } });
  await request.put("/api/flags/tool_loop_v2", { headers: HEADERS, data: { state: "on" } });
  await page.goto("/operator#audit");
  await enterToken(page);
  const entries = page.locator("[data-part=audit]");
  await expect(entries.filter({ hasText: group }).first()).toContainText(/Group changed ?by operator.*5(\.0)? → 7/);
  await expectAccessible(page);
  await page.getByRole("combobox", { name: "What" }).selectOption("Tool loop and rollout");
  await expect(entries.filter({ hasText: group })).toHaveCount(0);
  await expect(entries.first()).toContainText("Flag set");
});

test("a rollout is started, changed and ended", async ({ page, request }) => {
  await page.goto("/operator#rollout");
  await enterToken(page);
  try {
    await page.getByRole("button", { name: "Start rollout" }).click();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await expect(page.getByRole("dialog")).toHaveCount(0);
    await expect(page.getByRole("list", { name: "Stages" }).locator("[aria-current=step]")).toContainText("5%");
    await expect(page.locator("[data-part=audit]").first()).toContainText("Rollout started");
    await expectAccessible(page);

    await page.getByRole("button", { name: "Change plan" }).click();
    await page.getByRole("button", { name: "Remove stage 1" }).click();
    await page.getByRole("button", { name: "Change", exact: true }).click();
    // The percentage stays: only the guard raises it.
    const stages = page.getByRole("list", { name: "Stages" });
    await expect(stages.getByRole("listitem")).toHaveText([/\b5%/, /25%/, /50%/, /100%/]);
    await expect(stages.locator("[aria-current=step]")).toContainText(/\b5%/);

    await page.getByRole("button", { name: "End rollout" }).click();
    await expect(page.getByText("V2 stays at 5%")).toBeVisible();
    await expectAccessible(page);
    await page.getByRole("dialog").getByRole("button", { name: "End rollout" }).click();
    await expect(page.getByText("Ended by an operator")).toBeVisible();
    await expect(page.getByRole("button", { name: "Start rollout" })).toBeVisible();
  } finally {
    await request.delete("/api/rollout", { headers: HEADERS });
    await request.put("/api/flags/tool_loop_v2", { headers: HEADERS, data: { state: "on" } });
  }
});

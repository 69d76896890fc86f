// @vitest-environment jsdom
import { cleanup, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { WebhooksSection } from "./WebhooksSection.tsx";

const INBOX = {
  id: "wh_1",
  url: "https://example.org/hooks",
  events: ["run.ended"],
  description: "Inbox",
  active: true,
  disabled: null,
  created: 1_795_846_512,
  former_until: null,
};
const DELIVERED = {
  id: "msg_1",
  kind: "run.ended",
  state: "delivered",
  created: 1_795_846_600,
  ended: 1_795_846_600,
  next_attempt: null,
  attempts: [
    { at: 1_795_846_595, status: null, error: "TIMEOUT", milliseconds: 15_000 },
    { at: 1_795_846_600, status: 204, error: null, milliseconds: 12 },
  ],
};

/** The scripted server. */
const server = {
  webhooks: [] as object[],
  deliveries: [] as object[],
  next: null as string | null,
  sent: [] as string[],
  refusal: "",
};

async function answer(path: string, { method = "GET", body }: RequestInit = {}): Promise<Response> {
  const { pathname, search } = new URL(path, "http://x.invalid");
  if (method === "GET" && pathname === "/api/webhooks") return Response.json({ webhooks: server.webhooks });
  server.sent.push(`${method} ${pathname}${search}${body ? ` ${body}` : ""}`);
  if (server.refusal) {
    return Response.json({ error: { code: "INVALID_REQUEST", message: server.refusal } }, { status: 422 });
  }
  if (pathname.endsWith("/deliveries")) {
    if (!search.includes("before")) return Response.json({ deliveries: server.deliveries, next: server.next });
    return Response.json({ deliveries: [{ ...DELIVERED, id: "msg_0", kind: "webhook.test" }], next: null });
  }
  if (pathname.endsWith("/test")) return Response.json({ ...DELIVERED, kind: "webhook.test" });
  if (method === "POST" && pathname === "/api/webhooks")
    server.webhooks.push({ ...INBOX, ...JSON.parse(String(body)) });
  if (method === "PATCH") server.webhooks = [{ ...INBOX, ...JSON.parse(String(body)) }];
  if (method === "DELETE") server.webhooks = [];
  return Response.json({ ...INBOX, secret: "whsec_new" });
}

beforeEach(() => {
  Object.assign(server, { webhooks: [], deliveries: [], next: null, sent: [], refusal: "" });
  vi.stubGlobal("fetch", vi.fn(answer));
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

type User = ReturnType<typeof userEvent.setup>;

async function open(webhooks: object[] = [INBOX]): Promise<User> {
  server.webhooks = webhooks;
  render(<WebhooksSection />);
  await screen.findByText(webhooks.length ? "Inbox" : /^No webhooks yet/);
  return userEvent.setup();
}

const press = async (user: User, name: string) => user.click(await screen.findByRole("button", { name }));

describe("webhooks", () => {
  it("adds one, and shows its secret once", async () => {
    const user = await open([]);
    await press(user, "Add webhook");
    const dialog = within(await screen.findByRole("dialog", { name: "Add a webhook" }));
    await user.type(dialog.getByLabelText("URL"), "https://example.org/hooks");
    await user.type(dialog.getByLabelText("Description"), "Inbox");
    await user.click(dialog.getByRole("checkbox", { name: /^rollout\.promoted/ }));
    await user.click(dialog.getByRole("button", { name: "Add" }));
    const secret = within(await screen.findByRole("dialog", { name: "The secret of this webhook" }));
    expect(secret.getByText("whsec_new")).toBeTruthy();
    expect(secret.getByRole("button", { name: "Copy secret" })).toBeTruthy();
    const sent = {
      url: "https://example.org/hooks",
      description: "Inbox",
      events: ["run.ended", "rollout.finished", "rollout.stepped_back", "rollout.rolled_back", "rollout.regression"],
    };
    expect(server.sent).toEqual([`POST /api/webhooks ${JSON.stringify({ ...sent, active: true })}`]);
    await user.click(secret.getByRole("button", { name: "Done" }));
    await vi.waitFor(() => expect(screen.queryByText("whsec_new")).toBeNull());
    expect(screen.getByRole("table", { name: "Webhooks" }).textContent).toContain(sent.events.join(", "));
  });

  it("asks for at least one event, and keeps the form open with the server's reason", async () => {
    const user = await open();
    await press(user, "Change: Inbox");
    await user.click(screen.getByRole("checkbox", { name: /^run\.ended/ }));
    await press(user, "Save");
    expect(screen.getByRole("alert").textContent).toBe("Choose at least one event.");
    expect(server.sent).toEqual([]);
    await user.click(screen.getByRole("checkbox", { name: /^run\.ended/ }));
    server.refusal = "The URL has a private address.";
    await press(user, "Save");
    await vi.waitFor(() => expect(screen.getByRole("alert").textContent).toBe(server.refusal));
  });

  it("pauses one", async () => {
    const user = await open();
    await press(user, "Change: Inbox");
    await user.click(screen.getByRole("checkbox", { name: /^Active/ }));
    await press(user, "Save");
    expect(await screen.findByText("Paused")).toBeTruthy();
    expect(server.sent[0]).toMatch(/^PATCH \/api\/webhooks\/wh_1 .*"active":false/);
  });

  it("keeps the events that this page does not know", async () => {
    const user = await open([{ ...INBOX, events: ["run.ended", "run.started"] }]);
    await press(user, "Change: Inbox");
    await press(user, "Save");
    expect(server.sent[0]).toContain('"events":["run.ended","run.started"]');
  });

  it("sends a test event, and says how that went", async () => {
    const user = await open();
    await press(user, "Send test: Inbox");
    await vi.waitFor(() =>
      expect(screen.getByRole("status").textContent).toBe("Test event delivered. Status 204 in 12 ms."),
    );
    server.refusal = "There is no such webhook.";
    await press(user, "Send test: Inbox");
    await vi.waitFor(() => expect(screen.getByRole("status").textContent).toBe(`Test not sent. ${server.refusal}`));
  });

  it("shows what was sent, with each attempt, and older deliveries on demand", async () => {
    server.deliveries = [DELIVERED];
    server.next = "cursor";
    const user = await open();
    await press(user, "Deliveries: Inbox");
    const dialog = within(await screen.findByRole("dialog", { name: "Deliveries to Inbox" }));
    await user.click(await dialog.findByText("2 attempts"));
    expect(dialog.getByText(/No response in 15\.0 s: no response within 15 seconds/)).toBeTruthy();
    await user.click(dialog.getByRole("button", { name: "Load older deliveries" }));
    expect(await dialog.findByText("webhook.test")).toBeTruthy();
    expect(server.sent.at(-1)).toBe("GET /api/webhooks/wh_1/deliveries?limit=20&before=cursor");
    expect(dialog.queryByRole("button", { name: "Load older deliveries" })).toBeNull();
  });

  it("says that nothing was sent yet", async () => {
    const user = await open();
    await press(user, "Deliveries: Inbox");
    expect(await screen.findByText(/^Nothing was sent yet/)).toBeTruthy();
  });

  it("rotates the secret, and deletes only after a confirmation", async () => {
    const user = await open();
    await press(user, "Rotate: Inbox");
    await press(user, "Rotate");
    expect(await screen.findByText("whsec_new")).toBeTruthy();
    expect(server.sent).toEqual(['POST /api/webhooks/wh_1/rotate {"grace_seconds":86400}']);
    await press(user, "Done");
    await press(user, "Delete: Inbox");
    expect(server.sent).toHaveLength(1);
    await press(user, "Delete");
    expect(await screen.findByText(/^No webhooks yet/)).toBeTruthy();
  });

  it("says why the webhooks cannot be loaded", async () => {
    vi.stubGlobal("fetch", async () =>
      Response.json({ error: { code: "UNAUTHORIZED", message: "This needs the operator token." } }, { status: 403 }),
    );
    render(<WebhooksSection />);
    expect(screen.getByText("Loading…")).toBeTruthy();
    expect((await screen.findByRole("alert")).textContent).toMatch(/^This needs the operator token\./);
    expect(screen.queryByText("Loading…")).toBeNull();
  });
});

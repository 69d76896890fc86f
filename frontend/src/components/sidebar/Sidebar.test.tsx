// @vitest-environment jsdom
import { cleanup, render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";
import { isolated } from "../../logic/wording/bidi.ts";
import type { Address } from "../../state/address.ts";
import { Conversations } from "../../state/lists/conversations.ts";
import { SavedRuns } from "../../state/lists/savedRuns.ts";
import { Sidebar } from "./Sidebar.tsx";

afterEach(cleanup);

interface Kept {
  id: string;
  title: string;
  [name: string]: unknown;
}

/** A server with these conversations and saved answers. `broken` rejects every change. */
function server(conversations: Kept[], saves: Kept[] = [], { broken = false } = {}) {
  const changes: string[] = [];
  const lists: Record<string, Kept[]> = { conversations, saves };
  const request = async (target: string, { method = "GET", body }: RequestInit = {}) => {
    const url = new URL(target, "http://test");
    const [, , name = "", id = "", file] = url.pathname.split("/");
    if (method !== "GET") {
      changes.push([method, url.pathname, body].filter(Boolean).join(" "));
      if (broken) throw new Error("The disk is full.");
      if (method === "DELETE") lists[name] = lists[name]?.filter((line) => line.id !== id) ?? [];
      return Response.json({ deleted: true });
    }
    if (file) return new Response("text", { headers: { "content-disposition": `attachment; filename="${id}.txt"` } });
    const search = url.searchParams.get("search") ?? "";
    const found = (lists[name] ?? []).filter(({ title, match }) => `${title} ${match}`.toLowerCase().includes(search));
    return Response.json({ [name]: found.map((line) => (search ? line : { ...line, match: undefined })), next: null });
  };
  return { client: { request }, changes };
}

const now = Date.now() / 1000;
const chat = (id: string, title: string, more: object = {}): Kept => ({ id, title, updated: now, ...more });

function show(conversations: Kept[], saves: Kept[] = [], more: { here?: Address; broken?: boolean } = {}) {
  const { client, changes } = server(conversations, saves, more);
  // No timers: searches start at once, and there is no polling.
  const later = (run: () => void, ms: number) => {
    if (ms < 1000) run();
    return () => undefined;
  };
  const options = { client, later, channel: null, schedule: (run: () => void) => queueMicrotask(run) };
  const save = vi.fn();
  const on = { open: vi.fn(), openSave: vi.fn(), fresh: vi.fn(), closed: vi.fn() };
  const view = render(
    <Sidebar
      conversations={new Conversations({ ...options, save })}
      saves={new SavedRuns(options)}
      here={more.here ?? { kind: "new" }}
      onOpen={on.open}
      onOpenSave={on.openSave}
      onNew={on.fresh}
      onClosed={on.closed}
      foot={<button type="button">Settings</button>}
    />,
  );
  return { user: userEvent.setup(), changes, on, save, view };
}

const link = (name: string | RegExp) => screen.findByRole("link", { name });
const field = () => screen.getByRole("textbox", { name: "Search conversations" });
const three = () => [
  chat("a", "Tokyo"),
  chat("b", "Lima", { updated: now - 1 }),
  chat("c", "Oslo", { updated: now - 2 }),
];

it("lists conversations by day, with links that a new tab can open", async () => {
  const { on, user } = show(
    [chat("a", "Tokyo", { is_running: true, cost: 0.0041, paid: 0 }), chat("b", "Lima", { updated: 1 })],
    [],
    {
      here: { kind: "conversation", id: "b" },
    },
  );
  const first = await link(/Tokyo/);
  expect(first.getAttribute("href")).toBe("#c=a");
  expect(first.textContent).toContain("running");
  expect(first.textContent).toContain("would cost $0.0041");
  expect(screen.getAllByRole("heading", { level: 3 }).map((head) => head.textContent)).toEqual([
    "Today",
    "January 1970",
  ]);
  expect((await link("Lima")).getAttribute("aria-current")).toBe("page");
  expect(first.getAttribute("aria-current")).toBeNull();
  await user.click(first);
  expect(on.open).toHaveBeenCalledWith("a");
  await user.keyboard("{Control>}");
  await user.click(first);
  expect(on.open).toHaveBeenCalledTimes(1);
});

it("begins a new chat and leads to the other pages", async () => {
  const { user, on } = show([]);
  await user.click(screen.getByRole("button", { name: "New chat" }));
  expect(on.fresh).toHaveBeenCalled();
  const pages = ["Guide", "API", "Operator"].map((name) => screen.getByRole("link", { name }).getAttribute("href"));
  expect(pages).toEqual(["/guide/", "/docs", "/operator"]);
  screen.getByRole("button", { name: "Settings" });
  await screen.findByText("No conversations yet. Your chats appear here.");
});

it("navigates the list by keys, from the search field and back, as one tab stop", async () => {
  const { user } = show(three());
  await link("Tokyo");
  expect(screen.getAllByRole("link").filter((one) => one.tabIndex === 0 && one.closest("li"))).toHaveLength(1);
  await user.click(field());
  const focused = () => document.activeElement?.textContent || document.activeElement?.id;
  await user.keyboard("{ArrowDown}");
  expect(focused()).toBe("Tokyo");
  await user.keyboard("{ArrowDown}{ArrowDown}{ArrowDown}");
  expect(focused()).toBe("Oslo");
  expect((await link("Oslo")).tabIndex).toBe(0);
  expect((await link("Tokyo")).tabIndex).toBe(-1);
  await user.keyboard("{Home}");
  expect(focused()).toBe("Tokyo");
  await user.keyboard("{End}{ArrowUp}");
  expect(focused()).toBe("Lima");
  await user.keyboard("{Home}{ArrowUp}");
  expect(focused()).toBe("search-conversations");
});

it("renames with F2: Enter saves the title, and the focus returns to the line", async () => {
  const { user, changes } = show(three());
  (await link("Lima")).focus();
  await user.keyboard("{F2}");
  const title = await screen.findByRole("textbox", { name: "Title" });
  await waitFor(() => expect(document.activeElement).toBe(title));
  await user.keyboard("usco{Home}C{Enter}");
  expect(changes).toEqual(['PATCH /api/conversations/b {"title":"Cusco"}']);
  expect(screen.queryByRole("textbox", { name: "Title" })).toBeNull();
  await waitFor(() => expect(document.activeElement?.closest("[data-line]")?.getAttribute("data-line")).toBe("b"));
});

it("keeps the old title on Escape, and saves the new one on blur", async () => {
  const { user, changes } = show(three());
  (await link("Lima")).focus();
  await user.keyboard("{F2}");
  await waitFor(() => expect(document.activeElement?.tagName).toBe("INPUT"));
  await user.keyboard("Cusco{Escape}");
  expect(changes).toEqual([]);
  (await link("Lima")).focus();
  await user.keyboard("{F2}");
  await waitFor(() => expect(document.activeElement?.tagName).toBe("INPUT"));
  await user.keyboard("Quito");
  await user.click(field());
  expect(changes).toEqual(['PATCH /api/conversations/b {"title":"Quito"}']);
});

it("renames from the menu, and exports from it", async () => {
  const { user, save } = show(three());
  await user.click(await screen.findByRole("button", { name: "More for Lima" }));
  await user.click(await screen.findByRole("menuitem", { name: "Export as Markdown" }));
  await waitFor(() => expect(save).toHaveBeenCalledWith("b.txt", expect.any(String), "text"));
  await user.click(screen.getByRole("button", { name: "More for Lima" }));
  await user.click(await screen.findByRole("menuitem", { name: "Rename" }));
  await waitFor(() => expect(document.activeElement).toBe(screen.getByRole("textbox", { name: "Title" })));
});

it("asks once before it deletes, and closes a deleted conversation", async () => {
  const { user, changes, on } = show(three(), [], { here: { kind: "conversation", id: "b" } });
  (await link("Lima")).focus();
  await user.keyboard("{Delete}");
  const dialog = await screen.findByRole("dialog", { name: "Delete this conversation?" });
  expect(dialog.textContent).toContain("Answers that you saved stay under Saved.");
  await user.click(within(dialog).getByRole("button", { name: "Cancel" }));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  expect(changes).toEqual([]);
  (await link("Lima")).focus();
  await user.keyboard("{Delete}");
  await user.click(await screen.findByRole("button", { name: "Delete" }));
  await waitFor(() => expect(on.closed).toHaveBeenCalledWith("b"));
  expect(changes).toEqual(["DELETE /api/conversations/b"]);
  expect(screen.queryByRole("link", { name: "Lima" })).toBeNull();
});

it("restores a line that could not be deleted, with the reason", async () => {
  const { user, on } = show(three(), [], { here: { kind: "conversation", id: "b" }, broken: true });
  (await link("Lima")).focus();
  await user.keyboard("{Delete}");
  await user.click(await screen.findByRole("button", { name: "Delete" }));
  const trouble = await screen.findByRole("alert");
  expect(trouble.textContent).toContain("Deleting failed. The disk is full.");
  await link("Lima");
  expect(on.closed).not.toHaveBeenCalled();
  await user.click(screen.getByRole("button", { name: "Dismiss", hidden: true }));
  expect(screen.queryByRole("alert")).toBeNull();
});

it("searches, highlights matches, and reports no results", async () => {
  const { user } = show([chat("a", "Tokyo"), chat("b", "Cities", { match: "…Lima and Cusco…" })]);
  await link("Tokyo");
  await user.type(field(), "lima");
  await waitFor(() => expect(screen.queryByRole("link", { name: "Tokyo" })).toBeNull());
  expect((await link(/Cities/)).querySelector("mark")?.textContent).toBe("Lima");
  await screen.findByText("1 conversation found.");
  await user.type(field(), "xx");
  await screen.findByText(`No results for “${isolated("limaxx")}”.`);
  await user.keyboard("{Escape}");
  await link("Tokyo");
  expect((field() as HTMLInputElement).value).toBe("");
});

it("lists saved answers in a separate tab, opens and deletes them", async () => {
  const kept = [{ id: "s", title: "Tea", run_id: "r", model: "openai/sim", status: "cancelled", created: now }];
  const { user, on, changes } = show(three(), kept);
  await user.click(screen.getByRole("tab", { name: "Saved" }));
  const line = await link(/Tea/);
  expect(line.getAttribute("href")).toBe("#save=s");
  expect(line.textContent).toContain("openai/sim · Stopped");
  await user.click(line);
  expect(on.openSave).toHaveBeenCalledWith("s");
  line.focus();
  await user.keyboard("{F2}");
  expect(screen.queryByRole("textbox", { name: "Title" })).toBeNull();
  await user.type(field(), "x");
  await screen.findByText(`No saved answers match “${isolated("x")}”.`);
  await user.clear(field());
  (await link(/Tea/)).focus();
  await user.keyboard("{Delete}");
  await user.click(await screen.findByRole("button", { name: "Delete" }));
  await screen.findByText(/^No saved answers yet/);
  expect(changes).toEqual(["DELETE /api/saves/s"]);
});

it("reports that the list failed to load, and retries", async () => {
  let down = true;
  const client = {
    request: async () => {
      if (down) throw new Error("Signalbox is not responding.");
      return Response.json({ conversations: [chat("a", "Tokyo")], saves: [] });
    },
  };
  const options = { client, channel: null, schedule: (run: () => void) => queueMicrotask(run) };
  const nothing = () => undefined;
  render(
    <Sidebar
      conversations={new Conversations(options)}
      saves={new SavedRuns(options)}
      here={{ kind: "new" }}
      onOpen={nothing}
      onOpenSave={nothing}
      onNew={nothing}
      onClosed={nothing}
    />,
  );
  await screen.findByText("Conversations could not be loaded. Signalbox is not responding.");
  down = false;
  await userEvent.click(screen.getByRole("button", { name: "Try again" }));
  await link("Tokyo");
});

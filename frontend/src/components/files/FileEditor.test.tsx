// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { BranchFiles } from "../../state/files/branchFiles.ts";
import { fileDrafts } from "../../state/files/fileDrafts.ts";
import { ChangesTab } from "./ChangesTab.tsx";
import { CodeTab } from "./CodeTab.tsx";

vi.mock("../markdown/code/CodeBlock.tsx", () => ({ CodeBlock: () => null }));

afterEach(() => {
  cleanup();
  fileDrafts.drop("c", "a.txt");
});

const line = (node: string, version = 1) => ({
  ...{ path: "a.txt", version, media_type: "text/plain", size: 1, author: "model", created: 5 },
  ...{ node_id: node, is_deleted: false },
});

const content = () => new Response("text", { headers: { "x-file-version": "1" } });

/** Files of two variants: each has its own version 1 of a.txt. */
function variants() {
  const changes: string[] = [];
  const client: ConstructorParameters<typeof BranchFiles>[0] = {
    request: async (path, init) => {
      if (init?.method) changes.push(`${init.method} ${path}`);
      if (init?.method) return Response.json(line("one", 3));
      const node = path.includes("node_id=two") ? "two" : "one";
      if (path.includes("/file-versions/")) return Response.json({ versions: [line(node, 2), line(node)] });
      return path.includes("/files/") ? content() : Response.json({ files: [line(node)] });
    },
  };
  return { changes, branch: new BranchFiles(client, "c") };
}

const press = (name: string) => fireEvent.click(screen.getByRole("button", { name }));

it("an edit of one variant is saved into the files of another one only on request", async () => {
  const { branch, changes } = variants();
  await branch.load("one");
  const file = { path: "a.txt", content: "text", version: 1, isGrowing: false };
  render(<CodeTab branch={branch} file={file} />);
  press("Edit");
  await branch.load("two");
  press("Save");
  expect((await screen.findByRole("alert")).textContent).toContain("another version");
  expect(changes).toEqual([]);
  press("Save anyway");
  await vi.waitFor(() => expect(changes).toEqual(["PUT /api/conversations/c/files/a.txt?node_id=two"]));
});

it("an edit is still there after another tab was shown, and ends when it is saved", async () => {
  const { branch, changes } = variants();
  await branch.load("one");
  const file = { path: "a.txt", content: "text", version: 1, isGrowing: false };
  const { unmount } = render(<CodeTab branch={branch} file={file} />);
  press("Edit");
  fireEvent.change(screen.getByRole("textbox"), { target: { value: "mine" } });
  unmount();
  render(<CodeTab branch={branch} file={file} />);
  expect(screen.getByRole<HTMLTextAreaElement>("textbox").value).toBe("mine");
  press("Save");
  await vi.waitFor(() => expect(screen.queryByRole("textbox")).toBeNull());
  expect(changes).toEqual(["PUT /api/conversations/c/files/a.txt?node_id=one&base_version=1"]);
});

it("a double click restores a version once", async () => {
  const { branch, changes } = variants();
  await branch.load("one");
  render(<ChangesTab branch={branch} path="a.txt" version={2} />);
  fireEvent.change(await screen.findByRole("combobox", { name: "Version" }), { target: { value: "1" } });
  press("Restore this version");
  press("Restore this version");
  await screen.findByText("Version 1 is restored.");
  expect(changes).toHaveLength(1);
});

it("the versions in a deleted conversation say that it was deleted", async () => {
  const gone = Object.assign(new Error("There is none."), { code: "UNKNOWN_CONVERSATION" });
  const client: ConstructorParameters<typeof BranchFiles>[0] = {
    request: async (path) => {
      if (path.includes("/file-versions/")) throw gone;
      return path.includes("/files/") ? new Response("text") : Response.json({ files: [line("one")] });
    },
  };
  render(<ChangesTab branch={new BranchFiles(client, "c")} path="a.txt" version={1} />);
  await screen.findByText("This conversation was deleted in another tab or browser.");
});

it("changes that cannot be loaded are not shown as an empty file", async () => {
  const client: ConstructorParameters<typeof BranchFiles>[0] = {
    request: async (path) => {
      if (path.includes("/file-versions/")) return Response.json({ versions: [line("one", 2), line("one")] });
      if (path.includes("/files/")) throw new Error("Signalbox is not responding.");
      return Response.json({ files: [line("one", 2)] });
    },
  };
  render(<ChangesTab branch={new BranchFiles(client, "c")} path="a.txt" version={2} />);
  expect((await screen.findByRole("alert")).textContent).toContain("could not be loaded. Signalbox is not responding.");
  expect(screen.queryByText("Loading…")).toBeNull();
});

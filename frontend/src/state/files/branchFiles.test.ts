import type { ApiClient } from "@signalbox/client/requests";
import { expect, it } from "vitest";
import { BranchFiles } from "./branchFiles.ts";
import { fetchArchive, fetchFileVersions, restoreFile, writeFile } from "./fileRequests.ts";

const line = (path: string, version: number, node = "n") => ({
  ...{ path, version, media_type: "text/html", size: 1, author: "model", created: 5, node_id: node },
  is_deleted: false,
});

/** A server with these responses by address. A request without one fails. */
function serving(responses: Record<string, unknown>) {
  const asked: string[] = [];
  const client: ApiClient = {
    request: async (path, init) => {
      asked.push(`${init?.method ?? "GET"} ${path}`);
      const found = responses[path];
      if (found === undefined) throw new Error("No such address.");
      const headers = { "x-file-version": "2", "content-type": "application/zip" };
      return typeof found === "string" ? new Response(found, { headers }) : Response.json(await found);
    },
  };
  return { client, asked, branch: new BranchFiles(client, "c") };
}

it("files are loaded with their contents, each version once", async () => {
  const { branch, asked } = serving({
    "/api/conversations/c/files?node_id=r": { files: [line("a b.html", 2)] },
    "/api/conversations/c/files/a%20b.html?node_id=r&version=2": "<p>",
  });
  await branch.load("r");
  await branch.load();
  expect(branch.state.files).toMatchObject([{ path: "a b.html", version: 2, content: "<p>", created: 5000 }]);
  expect(asked.filter((path) => path.includes("version=2"))).toHaveLength(1);
});

it("a later branch replaces an earlier one that is still loading", async () => {
  const slow = Promise.withResolvers<object>();
  const { branch } = serving({
    "/api/conversations/c/files?node_id=old": slow.promise,
    "/api/conversations/c/files?node_id=new": { files: [] },
  });
  const first = branch.load("old");
  await branch.load("new");
  slow.resolve({ files: [line("a.html", 1)] });
  await first;
  expect(branch.state).toMatchObject({ files: [], isLoaded: true });
});

it("a change belongs to the shown files until those of another branch are loaded", async () => {
  const slow = Promise.withResolvers<object>();
  const { branch, asked } = serving({
    "/api/conversations/c/files?node_id=one": { files: [] },
    "/api/conversations/c/files?node_id=two": slow.promise,
  });
  await branch.load("one");
  const loading = branch.load("two");
  expect(branch.place.nodeId).toBe("one");
  // After a change, the files of the branch that was asked for last are loaded.
  const reloading = branch.load();
  expect(asked.at(-1)).toBe("GET /api/conversations/c/files?node_id=two");
  slow.resolve({ files: [] });
  await Promise.all([loading, reloading]);
  expect(branch.place.nodeId).toBe("two");
});

it("a failure is a sentence, and the files stay", async () => {
  const { branch } = serving({ "/api/conversations/c/files?node_id=r": { files: [] } });
  await branch.load("r");
  await branch.load("other");
  expect(branch.state).toMatchObject({ isLoaded: true, trouble: "The files could not be loaded. No such address." });
});

it("changes name the branch, the path and the version", async () => {
  const { client, asked } = serving({
    "/api/conversations/c/files/css/a.css?node_id=r&base_version=3": line("css/a.css", 4),
    "/api/conversations/c/file-versions/css/a.css?node_id=r": {
      ...line("css/a.css", 5),
      versions: [line("css/a.css", 1)],
    },
    "/api/conversations/c/files.zip": "zip",
  });
  const place = { conversationId: "c", nodeId: "r" };
  await writeFile(client, place, "css/a.css", "x", 3);
  await restoreFile(client, place, "css/a.css", 1);
  expect(await fetchFileVersions(client, place, "css/a.css")).toMatchObject([{ version: 1, nodeId: "n" }]);
  expect(await (await fetchArchive(client, { ...place, nodeId: undefined })).text()).toBe("zip");
  expect(asked.map((request) => request.split(" ")[0])).toEqual(["PUT", "POST", "GET", "GET"]);
});

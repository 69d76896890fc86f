import { describe, expect, it } from "vitest";
import type { StoredFile } from "../../types/files.ts";
import type { FileWrite } from "./fileWrites.ts";
import { firstFile, kindOf, previewedFile, shownFiles } from "./shownFiles.ts";

const stored = (path: string, content: string | Blob | undefined, version = 1): StoredFile => ({
  ...{ path, version, content, mediaType: "text/plain", size: 1, author: "model", created: 0, nodeId: "n" },
  isDeleted: false,
});
const write = (path: string, content: string, isGrowing = true): FileWrite => ({
  ...{ callId: "a", path, content, edits: [], isGrowing, version: undefined },
});

describe("the shown files", () => {
  it("are the stored ones with what a running call has written", () => {
    const files = shownFiles(
      [stored("b.css", "b"), stored("a.html", "a", 2)],
      [write("a.html", "new"), write("c.js", "c")],
    );
    expect(files).toEqual([
      { path: "a.html", content: "new", version: 2, isGrowing: true },
      { path: "b.css", content: "b", version: 1, isGrowing: false },
      { path: "c.js", content: "c", version: 0, isGrowing: true },
    ]);
  });

  it("keep an image, and leave out an edit of a file that does not exist", () => {
    const image = new Blob(["x"]);
    const edit = { ...write("none.css", ""), content: undefined };
    expect(shownFiles([stored("a.png", image)], [write("a.png", "text"), edit])).toEqual([
      { path: "a.png", content: image, version: 1, isGrowing: true },
    ]);
  });

  it("begin with the start page", () => {
    const first = (...paths: string[]) =>
      firstFile(
        shownFiles(
          paths.map((path) => stored(path, "")),
          [],
        ),
      );
    expect(first("a.html", "site/index.html", "x.css")).toBe("site/index.html");
    expect(first("b.css", "z.html")).toBe("z.html");
    expect(first("b.css", "a.js")).toBe("a.js");
    expect(first()).toBeUndefined();
    expect(firstFile(shownFiles([stored("a.css", "")], [write("b.css", "x")]))).toBe("b.css");
  });

  it("keep the page in the preview while its style sheet is selected", () => {
    const files = shownFiles([stored("index.html", ""), stored("a.css", ""), stored("b.png", "")], []);
    const previewed = ["a.css", "b.png", undefined].map((path) => previewedFile(files, path));
    expect(previewed).toEqual(["index.html", "b.png", "index.html"]);
    expect(previewedFile(shownFiles([stored("a.css", "")], []), "a.css")).toBeUndefined();
  });
});

it.each([
  ["index.HTML", "page"],
  ["a/b.svg", "image"],
  ["a.html.txt", "text"],
  ["html", "text"],
])("the kind of %s is %s", (path, kind) => {
  expect(kindOf(path)).toBe(kind);
});

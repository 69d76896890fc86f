import { describe, expect, it } from "vitest";
import { slugger } from "../markdown/headingSlugs.ts";
import { documentOf, linkWithin } from "../pages/documents.ts";
import { adviceOf } from "../wording/advice.ts";
import { cost, duration, endingOf, isFailure, loopText, thoughtFor } from "../wording/statusAndAmounts.ts";
import { isGuide, linkedSources, linksOf, sourcesIn } from "./sources.ts";

describe("links", () => {
  it("are found in any of a tool's lists, if they are web addresses", () => {
    const result = {
      results: [
        { n: 1, title: " A ", url: "https://www.example.org/a", snippet: "s" },
        { title: "script", url: "javascript:alert(1)" },
        { title: "file", url: "file:///etc/passwd" },
        { n: 2, url: "/guide/x.md#y" },
        { n: 3, url: "/guide/../api/runs" },
        { n: 4, url: "/guide/%2e%2e/api/runs" },
        { n: 5, url: "//example.org/guide/" },
        null,
        "text",
      ],
    };
    expect(linksOf(result).map(({ n, host, title }) => [n, host, title])).toEqual([
      [1, "example.org", "A"],
      [2, "guide", "/guide/x.md#y"],
    ]);
    expect(linksOf({ sources: [{ url: "https://a.example/" }] }).length).toBe(1);
    expect(linksOf([{ link: "https://a.example/" }]).length).toBe(1);
    expect(linksOf({ url: "https://a.example/", text: "…" }).length).toBe(1);
    expect([linksOf("text"), linksOf(null), linksOf({ a: 1 })]).toEqual([[], [], []]);
  });

  it("are merged by number or address, and ids in a query distinguish pages", () => {
    const link = (url: string, n?: number) => linksOf([{ url, title: url, ...(n && { n }) }]);
    const urls = (...links: ReturnType<typeof link>[]) => sourcesIn(links.flat()).map((source) => source.link.url);
    expect(urls(link("https://e.example/?id=1"), link("https://e.example/?id=2"))).toHaveLength(2);
    expect(urls(link("https://e.example/a/"), link("http://www.e.example/a"))).toHaveLength(1);
    expect(urls(link("https://e.example/a", 1), link("https://e.example/b", 1))).toEqual(["https://e.example/a"]);
    expect(urls(link("https://e.example/a", 1), link("https://e.example/a"))).toHaveLength(1);
  });

  it("are one page regardless of tracking parameters", () => {
    const urls = ["/a", "/a?utm_source=x&utm_medium=y", "/a?fbclid=1", "/a?gclid=1&ref=z", "/a#part"];
    expect(sourcesIn(linksOf(urls.map((path) => ({ url: `https://e.example${path}` }))))).toHaveLength(1);
    const pages = ["?id=1&utm_source=x", "?id=2&utm_source=x", "?reference=1"];
    expect(sourcesIn(linksOf(pages.map((query) => ({ url: `https://e.example/a${query}` }))))).toHaveLength(3);
  });

  it("keep quoted sections, and merge two sections of a page", () => {
    const link = (url: string, n: number) => linksOf([{ url, title: url, n }]);
    const found = [link("/guide/a.md#x", 1), link("/guide/b.md", 2), link("/guide/a.md#y", 1)].flat();
    const again = [link("/guide/a.md#x", 1), link("/guide/a.md", 1)].flat();
    expect(sourcesIn([...found, ...again]).map(({ link, more }) => [link.url, more.map(({ url }) => url)])).toEqual([
      ["/guide/a.md#x", ["/guide/a.md#y"]],
      ["/guide/b.md", []],
    ]);
  });

  it("are made from our own list of sources, whatever the title contains", () => {
    expect(
      linkedSources("None. These were found:\n\n- [1] A [b]: c: https://e.example/?a=1\n- [2] G: /guide/a.md#x"),
    ).toBe("None. These were found:\n\n- [1] [A \\[b\\]: c](<https://e.example/?a=1>)\n- [2] [G](</guide/a.md#x>)");
  });

  it.each([
    ["/notes/a.md", true],
    ["/notes/../api/runs", false],
    ["/guide/", true],
    ["/guide/sub/a.html?q=1#s", true],
    ["/guide", false],
    ["/api/runs", false],
    ["/guide/../../x", false],
    ["guide/x", false],
  ])("to %s: our guide is %s", (href, expected) => {
    expect(isGuide(href)).toBe(expected);
  });
});

describe("words", () => {
  it.each([
    [0, "0 ms"],
    [340, "340 ms"],
    [9400, "9.4 s"],
    [59_980, "1 min 0 s"],
    [125_000, "2 min 5 s"],
  ])("say %d ms", (ms, text) => {
    expect(duration(ms)).toBe(text);
  });

  it.each([
    [undefined, "Thought"],
    [0, "Thought for a moment"],
    [400, "Thought for a moment"],
    [6400, "Thought for 6 s"],
    [90_000, "Thought for 1 min 30 s"],
  ])("say how long was thought: %j", (ms, text) => {
    expect(thoughtFor(ms)).toBe(text);
  });

  it.each([
    [0, "$0"],
    [0.00001, "<$0.0001"],
    [0.0041, "$0.0041"],
    [1.5, "$1.50"],
  ])("say what %d dollars are", (usd, text) => {
    expect(cost(usd)).toBe(text);
  });

  it("have a next step for every failure, and a label for an unknown ending", () => {
    expect(adviceOf({ status: "error", code: "RATE_LIMIT", retry_after: 2.2 })).toBe("Wait 3 seconds, then retry.");
    const daily = { status: "error", code: "RATE_LIMIT", retryable: false, retry_after: 17_990 };
    expect(adviceOf(daily)).toBe("Choose another model or retry in 5 hours.");
    expect(adviceOf({ status: "error", code: "SOMETHING_NEW" })).toBe("Retry.");
    expect(adviceOf({ status: "error", retryable: false })).toBe("Change your message or choose another model.");
    expect(endingOf({ status: "paused" })).toEqual({ lamp: "failed", label: "Ended: paused" });
    expect(["complete", "cancelled", "error", "interrupted"].map((status) => isFailure({ status }))).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });

  it("distinguish a declining model from a content filter", () => {
    expect(endingOf({ status: "content_filter" })).toEqual({ lamp: "failed", label: "Blocked by a content filter" });
    expect(endingOf({ status: "content_filter", declined: true }).label).toBe("Declined by the model");
    expect(isFailure({ status: "content_filter", declined: true })).toBe(false);
  });

  it("name the loop and its reason", () => {
    const flag = (reason: string) => loopText("v2", { variant: "v2", reason });
    expect([loopText(undefined, undefined), loopText("v2", undefined)]).toEqual(["", "loop v2"]);
    expect([flag("STATIC"), flag("SPLIT"), flag("NEW_ONE")]).toEqual([
      "loop v2, set by the operator",
      "loop v2, by percentage",
      "loop v2, new_one",
    ]);
  });
});

describe("documents", () => {
  it.each([
    ["How do I list runs?", "how-do-i-list-runs"],
    [" Ollama, vLLM, llama.cpp or LM Studio ", "ollama-vllm-llamacpp-or-lm-studio"],
    ["`max_steps` & Änderung – 日本", "max_steps--änderung--日本"],
  ])("name the heading %j as GitHub does", (heading, slug) => {
    expect(slugger()(heading)).toBe(slug);
  });

  it("number repeated headings", () => {
    const slug = slugger();
    expect(["A", "A", "A-1", "A"].map(slug)).toEqual(["a", "a-1", "a-1-1", "a-2"]);
  });

  it.each([
    ["/guide/api.md", "# The `API` #\n\ntext", { kind: "markdown", title: "The API", body: "# The `API` #\n\ntext" }],
    ["/guide/", "no heading", { kind: "markdown", title: "", body: "no heading" }],
    ["/guide/a-b.md", '---\ntitle: "T"\n---\ntext', { kind: "markdown", title: "T", body: "text" }],
    ["/guide/a%20b.txt", "# a", { kind: "text", title: "a b", body: "# a" }],
    ["/guide/x.html", "<p>", { kind: "html", title: "x", body: "<p>" }],
  ])("are read by their names: %s", (path, text, expected) => {
    expect(documentOf(path, text)).toEqual(expected);
  });

  it.each([
    ["api.md#errors", "/guide/more/api.md#errors"],
    ["../README.md", "/guide/README.md"],
    ["#here", "#here"],
    ["/guide/x/", "/guide/x/"],
    ["/notes/x.md", "/notes/x.md"],
    ["../../backend/app.py", undefined],
    ["/api/runs", undefined],
    ["//evil.example/guide/", undefined],
    ["javascript:alert(1)", undefined],
    ["https://example.org/guide/", undefined],
  ])("lead from %s to %s", (href, target) => {
    expect(linkWithin("/guide/more/page.md", href)).toBe(target);
  });
});

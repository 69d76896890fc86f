// Output of models and tools is text: none of it runs, loads or leaves the page.
import { PAYLOADS } from "../src/fixtures/payloads.ts";
import { answer, ask, ended, expect, REFUSED, response, stops, test } from "./support/page.ts";

const RUN = "0123456789abcdef0123456789abcdef";

const EVIL = [
  '<script>window.ran = "script"</script>',
  "<img src=x onerror=\"window.ran = 'image'\">",
  "![a picture](https://evil.example/pixel.png)",
  "[a link](javascript:window.ran='link')",
  "<iframe src=https://evil.example/></iframe>",
  ...PAYLOADS,
];

/** A stream of contract v1.1 in which every text is hostile. */
function evilStream(): string {
  const search = { name: "search_web", category: "search", visibility: "primary", step: 1 };
  const other = { name: "<img src=x onerror=window.ran='name'>", category: "other", visibility: "secondary", step: 1 };
  const query = EVIL[0] ?? "";
  const results = [
    { n: 1, title: "<b onclick=alert(1)>title</b>", url: "javascript:window.ran='source'", snippet: EVIL.join(" ") },
    { n: 2, title: "![x](https://evil.example/t.png)", url: "https://example.org/<script>", snippet: "plain" },
  ];
  const first = { v: "1.1", run_id: RUN, loop: "v2" };
  const events: object[] = [
    { type: "reasoning", content: EVIL.join("\n\n"), step: 1, ...first },
    { type: "warning", message: EVIL.join(" "), code: "TOOL_CLAMP", step: 1 },
    {
      type: "tool_calls",
      calls: [
        { id: "a", arguments: JSON.stringify({ query }), ...search },
        { id: "b", arguments: JSON.stringify({ query }), ...other },
      ],
      step: 1,
    },
    { type: "tool_executing", id: "a", ...search },
    { type: "tool_result", id: "a", ...search, result: { success: true, result: { query, results } } },
    { type: "tool_result", id: "b", ...other, result: { success: false, error: EVIL.join(" "), code: "TOOL_FAILED" } },
    { type: "content", content: `${EVIL.join("\n\n")}\n\nSee [1] and [2].` },
    {
      type: "done",
      done: true,
      status: "error",
      error: EVIL.join(" "),
      code: "INTERNAL",
      retryable: true,
      loop: "v2",
      steps: 1,
    },
  ];
  return events
    .map(
      (event, index) => `data: ${JSON.stringify({ ts: 1790000000000 + index, ...event })}\nid: ${RUN}:${index + 1}\n\n`,
    )
    .join("");
}

test("hostile answers, sources, tools and errors stay text", async ({ page, faults }) => {
  // The server does not know this run.
  faults.allow(REFUSED);
  await page.route("**/api/chat/stream", (route) =>
    route.fulfill({
      headers: { "content-type": "text/event-stream", "x-run-id": RUN, "x-tool-loop": "v2" },
      body: evilStream(),
    }),
  );
  await page.goto("/");
  await ask(page, EVIL.join("\n"));
  await ended(page, "error");
  for (const kind of ["reasoning", "search", "tools"]) {
    const head = stops(page, kind).getByRole("button").first();
    if ((await head.getAttribute("aria-expanded")) === "false") await head.click();
  }
  await expect(answer(page).last()).toContainText("See");
  // Highlighting and formulas load later.
  await expect(response(page).locator(".katex").first()).toBeVisible();
  await page.waitForTimeout(500);

  const found = await page.evaluate(() => ({
    ran: (window as unknown as { ran?: string }).ran,
    elements: [
      ...document.querySelectorAll(
        "main :is(script, iframe, object, embed, style, form, base, meta, video, audio, link)",
      ),
    ].map((element) => element.outerHTML.slice(0, 100)),
    pictures: [...document.querySelectorAll("main img")].map((image) => image.outerHTML.slice(0, 100)),
    handlers: [...document.querySelectorAll("main *")]
      .flatMap((element) => element.getAttributeNames())
      .filter((name) => name.startsWith("on")),
    links: [...document.querySelectorAll<HTMLAnchorElement>("main a[href]")].map((a) => [a.href, a.rel]),
  }));
  expect(found.ran).toBeUndefined();
  expect(found.elements).toEqual([]);
  expect(found.pictures).toEqual([]);
  expect(found.handlers).toEqual([]);
  expect(found.links.filter(([href = ""]) => !/^(https?|mailto):/.test(href))).toEqual([]);
  const here = new URL(page.url()).origin;
  expect(found.links.filter(([href = "", rel = ""]) => !href.startsWith(here) && !/noopener/.test(rel))).toEqual([]);
  await expect(response(page)).toContainText("window.ran");
});

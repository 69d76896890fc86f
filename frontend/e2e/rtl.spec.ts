// Right-to-left text: each block has its own direction, while code and URLs stay left-to-right.
import type { Locator } from "@playwright/test";
import {
  answer,
  ask,
  ended,
  expect,
  message,
  type Page,
  REFUSED,
  response,
  stops,
  test,
  useModel,
} from "./support/page.ts";

const RUN = "00112233445566778899aabbccddeeff";

const ARABIC = "تعمل المكتبة مع `npm install --save-dev` منذ الإصدار 3.5 وهي مجانية.";
const HEBREW = "הספרייה React עובדת היטב עם TypeScript, גרסה 5.";
const PERSIAN = "برای اطلاعات بیشتر نگاه کنید به https://example.org/docs/start?lang=fa و سپس ادامه دهید.";
const ENGLISH = "In short: install it, then restart the server.";

const ANSWER = `## مقدمة قصيرة

${ARABIC}

${HEBREW}

${PERSIAN}

${ENGLISH}

- العنصر الأول
- React مكتبة
  - فرعي

1. שלב ראשון
2. שלב שני

- first item
- عنصر

* [x] مهمة منجزة

| الأمر | الوصف |
|---|---|
| \`npm test\` | يشغّل الاختبارات (كلها). |
| Build (fast) | يبني المشروع |

| Command | Meaning |
|---|---|
| test | tests |

> اقتباس قصير من المصدر.

\`\`\`js
const greeting = "مرحبا"; // تعليق
\`\`\`

$$
a^2 + b^2 = c^2
$$

المعادلة $$x = 1$$ صحيحة [1].[^1]

[^1]: حاشية قصيرة.
`;

interface AnswerText {
  content?: string;
  reasoning?: string;
  results?: readonly object[];
}

/** A scripted run, because the simulator does not write these texts. */
async function answerWith(page: Page, { content = "", reasoning, results }: AnswerText): Promise<void> {
  const search = { id: "a", name: "search_web", category: "search", visibility: "primary", step: 1 };
  const events: object[] = [
    ...(reasoning ? [{ type: "reasoning", content: reasoning, step: 1 }] : []),
    ...(results
      ? [
          { type: "tool_calls", calls: [{ ...search, arguments: '{"query":"ما هي حلقة الأحداث؟"}' }], step: 1 },
          { type: "tool_result", ...search, result: { success: true, result: { results } } },
        ]
      : []),
    { type: "content", content },
    { type: "done", done: true, status: "complete", steps: 1 },
  ];
  const body = events
    .map((event, at) => {
      const data = { ts: 1790000000000 + at, v: "1.1", run_id: RUN, loop: "v2", ...event };
      return `data: ${JSON.stringify(data)}\nid: ${RUN}:${at + 1}\n\n`;
    })
    .join("");
  const headers = { "content-type": "text/event-stream", "x-run-id": RUN, "x-tool-loop": "v2" };
  await page.route("**/api/chat/stream", (route) => route.fulfill({ headers, body }));
}

const RESULTS = [
  {
    n: 1,
    title: "حلقة الأحداث في JavaScript (شرح).",
    url: "https://example.org/ar",
    snippet: "تنفذ الحلقة المهام واحدة تلو الأخرى.",
  },
];

async function showAnswer(page: Page, words: AnswerText): Promise<void> {
  await answerWith(page, words);
  await page.goto("/");
  await ask(page, "שאלה?");
  await ended(page);
}

/** The side of the box on which the first and the last letter of an element are. */
const placed = (element: Locator) =>
  element.evaluate((root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const letters: DOMRect[] = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode())
      for (let at = 0; at < (node.textContent ?? "").length; at++) {
        if (!/\S/.test(node.textContent?.[at] ?? "") || node.parentElement?.closest(".sr-only")) continue;
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + 1);
        letters.push(range.getBoundingClientRect());
      }
    const [first, last] = [letters[0], letters.at(-1)];
    if (!first || !last) throw new Error("There is no letter.");
    const box = root.getBoundingClientRect();
    const { paddingLeft, paddingRight } = getComputedStyle(root);
    const toLeft = first.left - box.left - Number.parseFloat(paddingLeft);
    const toRight = box.right - Number.parseFloat(paddingRight) - first.right;
    return { begins: toRight < toLeft ? "right" : "left", ends: last.left < first.left ? "left" : "right" };
  });

const RIGHT = { begins: "right", ends: "left" };
const LEFT = { begins: "left", ends: "right" };

test.beforeEach(({ faults }) => {
  // The server does not know these runs.
  faults.allow(REFUSED);
});

test("each block of an answer has its own direction", async ({ page }) => {
  await showAnswer(page, { content: ANSWER });
  const block = (words: string, tag = "p") => answer(page).locator(tag, { hasText: words });
  expect(await placed(block("مقدمة", "h3"))).toEqual(RIGHT);
  expect(await placed(block("تعمل المكتبة"))).toEqual(RIGHT);
  expect(await placed(block("הספרייה"))).toEqual(RIGHT);
  expect(await placed(block("In short"))).toEqual(LEFT);
  // A sentence with a URL continues on its left.
  const address = answer(page).getByRole("link", { name: "https://example.org/docs/start?lang=fa" });
  expect((await placed(address)).ends).toBe("right");
  expect(await placed(block("برای اطلاعات"))).toEqual(RIGHT);
});

test("inline code keeps its direction and does not affect the text around it", async ({ page }) => {
  await showAnswer(page, { content: `${ARABIC}\n\n\`f(x)\` هي دالة.` });
  for (const code of await answer(page).locator("p code").all()) expect((await placed(code)).ends).toBe("right");
  // Code at the beginning does not set the direction.
  const second = answer(page).locator("p").nth(1);
  expect(await placed(second)).toMatchObject({ ends: "left" });
  await expect(second).toHaveCSS("direction", "rtl");
});

test("a list has its markers on the side where its text begins", async ({ page }) => {
  await showAnswer(page, { content: ANSWER });
  const list = (words: string) => answer(page).locator("ul, ol").filter({ hasText: words }).first();
  for (const words of ["العنصر الأول", "שלב ראשון"]) {
    await expect(list(words)).toHaveCSS("padding-right", "24px");
    await expect(list(words)).toHaveCSS("padding-left", "0px");
  }
  // All items are on the side of the list, whatever their first word.
  for (const words of ["React مكتبة", "فرعي"])
    await expect(answer(page).locator("li", { hasText: words }).last()).toHaveCSS("direction", "rtl");
  await expect(list("first item")).toHaveCSS("padding-left", "24px");
  await expect(answer(page).locator("li", { hasText: /^عنصر$/ })).toHaveCSS("direction", "ltr");
  const task = answer(page).locator("li", { hasText: "مهمة" });
  const box = await task.locator(".task").boundingBox();
  const words = await task.boundingBox();
  expect(box?.x).toBeGreaterThan((words?.x ?? 0) + (words?.width ?? 0));
});

test("the columns of a table start on its side, and each cell has its own direction", async ({ page }) => {
  await showAnswer(page, { content: ANSWER });
  const [arabic, english] = [answer(page).locator("table").first(), answer(page).locator("table").last()];
  const left = async (table: Locator, column: number) => (await table.locator("th").nth(column).boundingBox())?.x ?? 0;
  expect(await left(arabic, 0)).toBeGreaterThan(await left(arabic, 1));
  expect(await left(english, 0)).toBeLessThan(await left(english, 1));
  expect(await placed(arabic.locator("td", { hasText: "الاختبارات" }))).toEqual(RIGHT);
  // Its parenthesis stays after the word, on the side of the column.
  const cell = arabic.locator("td", { hasText: "Build (fast)" });
  expect((await placed(cell)).ends).toBe("right");
  await expect(cell).toHaveCSS("direction", "rtl");
});

test("quotes, footnotes and citations follow the text; code and formulas do not", async ({ page }) => {
  await showAnswer(page, { content: ANSWER, results: RESULTS });
  const quote = answer(page).locator("blockquote");
  await expect(quote).toHaveCSS("border-right-width", "2px");
  await expect(quote).toHaveCSS("border-left-width", "0px");
  const note = answer(page).locator(".note");
  const [mark, words] = [await note.locator("sup").boundingBox(), await note.locator("p").boundingBox()];
  expect(mark?.x).toBeGreaterThan(words?.x ?? Number.POSITIVE_INFINITY);
  await expect(answer(page).locator("pre")).toHaveCSS("direction", "ltr");
  expect(await placed(answer(page).locator("pre"))).toMatchObject({ begins: "left" });
  for (const formula of await answer(page).locator(".katex, .formula").all())
    await expect(formula).toHaveCSS("direction", "ltr");
  await expect(answer(page).locator("[data-part=cite]")).toBeVisible();
});

test("the copied text is unchanged", async ({ page }) => {
  await showAnswer(page, { content: `${ARABIC}\n\n${PERSIAN}` });
  await expect(answer(page).locator("code")).toBeVisible();
  const copied = await answer(page).evaluate((element) => {
    getSelection()?.selectAllChildren(element);
    return getSelection()?.toString().trim().split(/\n+/);
  });
  expect(copied).toEqual([ARABIC.replaceAll("`", ""), PERSIAN]);
});

test("reasoning and search results have their own direction", async ({ page }) => {
  await showAnswer(page, { reasoning: "يسأل المستخدم عن الحلقة.", results: RESULTS, content: "انظر [1]." });
  for (const kind of ["reasoning", "search"]) {
    const head = stops(page, kind).getByRole("button").first();
    if ((await head.getAttribute("aria-expanded")) === "false") await head.click();
  }
  expect(await placed(stops(page, "reasoning").locator("[data-part=reasoning] p"))).toEqual(RIGHT);
  const found = stops(page, "search");
  await expect(found.getByText("ما هي حلقة الأحداث؟")).toHaveCSS("direction", "rtl");
  await expect(found.getByText("حلقة الأحداث في")).toHaveCSS("direction", "rtl");
  await expect(found.getByText("تنفذ الحلقة")).toHaveCSS("direction", "rtl");
});

test("messages, titles and fields have the direction of their text", async ({ page }) => {
  const QUESTION = "מה זה React, ולמה משתמשים בו?";
  await page.goto("/");
  await message(page).fill(QUESTION);
  expect(await message(page).evaluate((box) => getComputedStyle(box).direction)).toBe("rtl");
  await page.keyboard.press("Enter");
  await ended(page);
  const bubble = page.locator("[data-part=question]").getByText(QUESTION);
  expect(await placed(bubble)).toEqual(RIGHT);

  const line = page.locator("[data-part=line]").first();
  await expect(line.getByText(QUESTION)).toHaveCSS("direction", "rtl");
  await expect(page.getByRole("heading", { level: 1 })).toHaveAttribute("dir", "auto");
  await expect(page.locator("title")).toHaveAttribute("dir", "auto");

  await message(page).press("ArrowUp");
  const edit = page.getByRole("textbox", { name: "Edit message" });
  expect(await edit.evaluate((box) => getComputedStyle(box).direction)).toBe("rtl");
  await edit.press("Escape");

  await page.getByRole("textbox", { name: "Search conversations" }).fill("משתמשים");
  await expect(page.locator("[data-part=line] mark").first()).toBeVisible();
  await expect(page.getByRole("textbox", { name: "Search conversations" })).toHaveCSS("direction", "rtl");
  await page.getByRole("button", { name: "Settings" }).click();
  const system = page.getByRole("textbox", { name: "System prompt" });
  await system.fill("ענה בעברית.");
  await expect(system).toHaveCSS("direction", "rtl");
  await page.keyboard.press("Escape");
});

test("a message in several scripts has each line on its own side", async ({ page }) => {
  await answerWith(page, { content: "." });
  await page.goto("/");
  await message(page).fill("مرحبا، ترجم هذه الجملة الطويلة من فضلك:\nHello, world. This is a sentence.");
  await page.keyboard.press("Enter");
  await ended(page);
  const edges = await page.locator("[data-part=question] p").evaluate((words) => {
    const text = words.firstChild;
    if (!text) throw new Error("There are no words.");
    const edge = (at: number) => {
      const range = document.createRange();
      range.setStart(text, at);
      range.setEnd(text, at + 1);
      return range.getBoundingClientRect();
    };
    const box = words.getBoundingClientRect();
    const english = (text.textContent ?? "").indexOf("Hello");
    const last = (text.textContent ?? "").length - 1;
    return {
      arabicFromRight: Math.round(box.right - edge(0).right),
      englishFromLeft: Math.round(edge(english).left - box.left),
      periodIsLast: edge(last).left > edge(english).left,
    };
  });
  expect(edges.arabicFromRight).toBeLessThan(3);
  expect(edges.englishFromLeft).toBeLessThan(3);
  expect(edges.periodIsLast).toBe(true);
});

test("a queued message is on the side of its text", async ({ page }) => {
  await page.goto("/");
  await useModel(page, "openai/sim-long-3000");
  await ask(page, "A long answer, please.");
  await ask(page, "ועוד שאלה אחת.");
  const queued = page.locator("[data-part=queue] li").getByText("ועוד שאלה אחת.");
  await expect(queued).toHaveCSS("direction", "rtl");
  await expect(response(page)).toBeVisible();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("button", { name: "Stop" }).first().click();
});

test("a variable's name and value are on the side of their text", async ({ page }) => {
  await page.goto("/");
  await ask(page, "Write to {{name}}.");
  const form = page.getByRole("dialog", { name: "Fill in the variables" });
  const field = form.getByRole("textbox", { name: "name" });
  await expect(form.getByText("name", { exact: true })).toHaveAttribute("dir", "auto");
  await expect(field).toHaveCSS("direction", "ltr");
  await field.fill("עדה");
  await expect(field).toHaveCSS("direction", "rtl");
});

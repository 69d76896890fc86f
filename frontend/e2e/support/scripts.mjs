// The scripted runs: lists of [milliseconds to wait, event].

const SEARCH = { category: "search", visibility: "primary" };
const READ = { category: "other", visibility: "secondary" };
const CLOCK = { category: "utility", visibility: "hidden" };

/** A text in pieces of a few words, as a model sends it. */
function spoken(text, type = "content", wait = 25, more = {}) {
  const pieces = text.match(/\S+\s*|\s+/g) ?? [];
  return pieces.map((piece) => [wait, { type, content: piece, ...more }]);
}

const think = (text, step) => spoken(text, "reasoning", 20, { step });

function call(id, name, args, meta, step) {
  return [
    [30, { type: "tool_calls", calls: [{ id, name, arguments: args, ...meta }], step }],
    [5, { type: "tool_executing", id, name, ...meta, step }],
  ];
}

const ok = (id, name, result, meta, step, wait = 500, more = {}) => [
  wait,
  { type: "tool_result", id, name, result: { success: true, result }, ...meta, step, ...more },
];
const bad = (id, name, error, code, meta, step, wait = 300) => [
  wait,
  { type: "tool_result", id, name, result: { success: false, error, code }, ...meta, step },
];

const HITS = [
  {
    n: 1,
    title: "asyncio: Task groups",
    url: "https://docs.python.org/3/library/asyncio-task.html#task-groups",
    snippet:
      "Task groups combine a task creation API with a convenient and reliable way to wait for all tasks in the group to finish.",
  },
  {
    n: 2,
    title: "PEP 654: Exception Groups and except*",
    url: "https://peps.python.org/pep-0654/",
    snippet:
      "This document proposes language extensions that allow programs to raise and handle multiple unrelated exceptions simultaneously.",
  },
  {
    n: 3,
    title: "Architecture › One request in a straight line",
    url: "/guide/architecture.md#one-request-in-a-straight-line",
    snippet: "A run belongs to no connection: whoever watches reads its journal at a cursor of their own.",
  },
];
const MORE = [
  {
    n: 4,
    title: "Structured concurrency in practice",
    url: "https://example.org/notes/structured?id=1",
    snippet: "When one child fails, its siblings are cancelled, and the failures come back together.",
  },
  { n: 2, title: "PEP 654: Exception Groups and except*", url: "https://peps.python.org/pep-0654/", snippet: "" },
];

const ANSWER = `Use a \`TaskGroup\` when every child must **finish or fail together** [1]. Use \`gather\` when you want every result, whatever became of the others.

| | TaskGroup | gather |
|---|---|---|
| one child fails | the others are cancelled [1] | they go on |
| several fail | one \`ExceptionGroup\` [2] | the first is raised |

\`\`\`python
async with asyncio.TaskGroup() as group:
    first = group.create_task(fetch(1))
    second = group.create_task(fetch(2))
print(first.result(), second.result())
\`\`\`

- Cancelling the group cancels its children, and it waits until they have gone.
- What a child raises reaches you when the block ends [2, 4].

Which of the two is clearer depends on who owns the tasks; the guide follows the same rule for its runs [3]. A source that nobody found stays text [9].`;

const TALK = [
  [600, { type: "reasoning", content: "The question ", step: 1 }],
  ...think(
    "is about when a TaskGroup is the better choice than gather. I should look at the documentation before I answer, and at the way in which errors are reported.",
    1,
  ),
  [
    30,
    {
      type: "tool_calls",
      step: 1,
      calls: [
        { id: "c1", name: "search_web", arguments: { query: "asyncio TaskGroup versus gather" }, ...SEARCH },
        { id: "c2", name: "search_web", arguments: { query: "ExceptionGroup except star" }, ...SEARCH },
        { id: "t1", name: "get_current_time", arguments: {}, ...CLOCK },
      ],
    },
  ],
  [2, { type: "tool_executing", id: "c1", name: "search_web", ...SEARCH, step: 1 }],
  [2, { type: "tool_executing", id: "c2", name: "search_web", ...SEARCH, step: 1 }],
  [2, { type: "tool_executing", id: "t1", name: "get_current_time", ...CLOCK, step: 1 }],
  ok("t1", "get_current_time", { iso: "2026-11-20T09:00:00Z" }, CLOCK, 1, 20),
  ok("c1", "search_web", { query: "asyncio TaskGroup versus gather", results: HITS }, SEARCH, 1, 700),
  ok("c2", "search_web", { query: "ExceptionGroup except star", results: MORE }, SEARCH, 1, 400),
  ...think(
    "The second source explains why several failures come back as one group. That settles it: the difference is who waits for whom.",
    2,
  ),
  ...call("r1", "read_url", { url: "https://docs.python.org/3/library/asyncio-task.html" }, READ, 2),
  ...call("r2", "read_url", { url: "https://example.org/gone" }, READ, 2),
  ok(
    "r1",
    "read_url",
    { url: "https://docs.python.org/3/library/asyncio-task.html", text: "Coroutines and tasks. ".repeat(40) },
    READ,
    2,
  ),
  bad("r2", "read_url", "The page answered 404.", "TOOL_FAILED", READ, 2),
  ...think("Enough to answer.", 3),
  ...spoken(ANSWER),
  [
    50,
    {
      type: "done",
      done: true,
      status: "complete",
      usage: { input: 1430, output: 382, reasoning: 96 },
      cost: 0,
      steps: 3,
    },
  ],
];

const ERROR = [
  [300, { type: "content", content: "The first half of an answer, and then" }],
  [300, { type: "warning", code: "UPSTREAM_OVERLOADED", message: "The model's host is overloaded." }],
  [
    0,
    {
      type: "done",
      done: true,
      status: "error",
      code: "UPSTREAM_OVERLOADED",
      error: "The model's host is overloaded.",
      retryable: true,
      cost: 0.0004,
      simulated: undefined,
      steps: 1,
    },
  ],
];

const CLAMP = [
  [100, { type: "reasoning", content: "", hidden: true, step: 1 }],
  ...["one", "two", "three"].flatMap((query, index) => call(`s${index}`, "search_web", { query }, SEARCH, 1)),
  ok("s0", "search_web", { results: HITS.slice(0, 2) }, SEARCH, 1, 100),
  ok("s1", "search_web", { results: HITS.slice(0, 2) }, SEARCH, 1, 50, { cached: true }),
  [10, { type: "warning", code: "TOOL_CLAMP", message: "The limit of searches for one answer is reached." }],
  bad("s2", "search_web", "The limit of searches for one answer is reached.", "TOOL_CLAMP", SEARCH, 1, 50),
  ...spoken("What was found is enough [1].\n\nIt is short."),
  [10, { type: "done", done: true, status: "complete", usage: { input: 300, output: 30 }, cost: 0, steps: 2 }],
];

const PAYLOAD = [
  ...spoken(
    "<script>window.hacked=1</script> <img src=x onerror=window.hacked=1> ![cat](https://example.org/cat.png) [bad](javascript:alert(1)) [good](https://example.org/)",
    "content",
    5,
  ),
  [10, { type: "done", done: true, status: "complete", cost: 0, steps: 1 }],
];

const DECLINED = [
  ...spoken("I will not help with that.", "content", 20, { refusal: true }),
  [10, { type: "warning", code: "CONTENT_FILTER", message: "The answer was withheld by a content filter." }],
  [
    0,
    {
      type: "done",
      done: true,
      status: "content_filter",
      code: "CONTENT_FILTER",
      error: "The answer was withheld by a content filter.",
      cost: 0,
      steps: 1,
    },
  ],
];

const EMPTY = [
  ...call("s0", "search_web", { query: "a" }, SEARCH, 1),
  ok("s0", "search_web", { results: HITS }, SEARCH, 1, 100),
  [0, { type: "warning", code: "FINAL_EMPTY", message: "The model gave no final answer." }],
  [
    0,
    {
      type: "content",
      content: `The model gave no answer after using its tools. These sources were found:\n\n${HITS.map(({ n, title, url }) => `- [${n}] ${title}: ${url}`).join("\n")}`,
      synthetic: true,
    },
  ],
  [0, { type: "done", done: true, status: "complete", cost: 0, steps: 2 }],
];

const long = (words) => [
  ...think("Let me think about this for a while. ".repeat(Math.ceil(words / 100)), 1),
  ...spoken("One more sentence of a long answer. ".repeat(Math.ceil(words / 7)), "content", 40),
  [10, { type: "done", done: true, status: "complete", cost: 0, steps: 1 }],
];

const half = Math.floor(TALK.length / 2);
const DROP = [...TALK.slice(0, half), [0, "drop"], ...TALK.slice(half)];

/** The words of the last question choose what is played. */
export function scriptFor(body) {
  const question = body.messages.at(-1).content.toLowerCase();
  if (/error|fail/.test(body.model) || question.includes("error")) return ERROR;
  const [, words] = /long-(\d+)/.exec(body.model) ?? [];
  if (words || question.includes("long answer.")) return long(Number(words ?? 1400));
  if (question.includes("clamp")) return CLAMP;
  if (question.includes("decline")) return DECLINED;
  if (question.includes("no final answer")) return EMPTY;
  if (question.includes("payload")) return PAYLOAD;
  if (question.includes("drop")) return DROP;
  return TALK;
}

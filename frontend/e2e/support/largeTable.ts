// An answer with a large DataTable, as an SSE stream of contract v1.1.
import type { Page } from "@playwright/test";
import type { DataTable } from "../../src/types/dataTable.ts";

const RUN = "0123456789abcdef0123456789abcdef";
const TOOL = { id: "a", name: "list_stock", category: "other", visibility: "primary", step: 1 };
const TONES = { "In stock": "success", "Few left": "warning", "Sold out": "danger" } as const;
const STATUSES = Object.keys(TONES);
const NAMES = ["Red mug", "Blue cup with a saucer", "Teapot of cast iron, enamelled, 1.2 litres", "Tray"];
const TAGS = ["kitchen", "sale", "gift", "fragile", "handmade"];
const DAY_MS = 86_400_000;

/** Every format except images, whose addresses the server would have to sign. */
const COLUMNS: DataTable["columns"] = [
  { key: "name", label: "Product", priority: "primary", format: { kind: "link", hrefKey: "url", external: true } },
  { key: "price", label: "Price", priority: "primary", format: { kind: "currency", currency: "USD" } },
  { key: "stock", label: "Stock", format: { kind: "number" } },
  { key: "change", label: "Change", format: { kind: "delta" } },
  {
    key: "status",
    label: "Status",
    priority: "primary",
    format: {
      kind: "status",
      statusMap: Object.fromEntries(STATUSES.map((name) => [name, { tone: TONES[name as keyof typeof TONES] }])),
    },
  },
  { key: "used", label: "Used", format: { kind: "boolean" } },
  { key: "tags", label: "Tags", format: { kind: "array", maxVisible: 2 } },
  { key: "added", label: "Added", format: { kind: "date" } },
];

/** The prices are 1 to `count` dollars, in no order. */
export const largeTable = (count: number): DataTable => ({
  surfaceId: "t-1",
  caption: "Stock",
  columns: COLUMNS,
  data: Array.from({ length: count }, (_, index) => ({
    name: `${NAMES[index % NAMES.length]} ${index + 1}`,
    url: `https://shop.example/${index + 1}`,
    price: ((index * 7919 + 500) % count) + 1,
    stock: (index * 37) % 5000,
    change: (index % 21) - 10,
    status: STATUSES[index % STATUSES.length] ?? "",
    used: index % 3 === 0,
    tags: TAGS.slice(0, 1 + (index % TAGS.length)),
    added: new Date(Date.UTC(2026, 0, 1) + index * DAY_MS).toISOString().slice(0, 10),
  })),
});

function streamWith(table: DataTable): string {
  const events: object[] = [
    { type: "tool_calls", calls: [{ ...TOOL, arguments: "{}" }], step: 1, v: "1.1", run_id: RUN, loop: "v2" },
    { type: "tool_executing", ...TOOL },
    { type: "tool_result", ...TOOL, result: { success: true, result: { rows: table.data.length } }, artifact: table },
    { type: "content", content: "This is the stock." },
    { type: "done", done: true, status: "complete", loop: "v2", steps: 1 },
  ];
  return events
    .map(
      (event, index) => `data: ${JSON.stringify({ ts: 1790000000000 + index, ...event })}\nid: ${RUN}:${index + 1}\n\n`,
    )
    .join("");
}

/** The next messages are answered with this table. The server does not know the run. */
export async function answerWithTable(page: Page, table: DataTable): Promise<void> {
  await page.route("**/api/chat/stream", (route) =>
    route.fulfill({
      headers: { "content-type": "text/event-stream", "x-run-id": RUN, "x-tool-loop": "v2" },
      body: streamWith(table),
    }),
  );
}

// `just bench-page`: measures the built page in a real browser, with the real server and a scripted upstream, and
// prints tables.
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { answerRows, measureAnswer, ratioRows } from "./answer.ts";
import { chatRows, MOST_NODES, measureChat, openRows } from "./chat.ts";
import { measureCompare } from "./compare.ts";
import { table } from "./figures.ts";
import { LISTED, listed, measureFirstVisit, type Visit, visitRows } from "./first.ts";
import { serve } from "./server.ts";
import { measureTable, tableRows } from "./table.ts";
import type { Kind } from "./texts.ts";
import { Upstream } from "./upstream.ts";

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    json: { type: "string" },
    port: { type: "string", default: "0" },
    tokens: { type: "string", default: "" },
  },
});
const wanted = (part: string): boolean => !values.only || values.only === part;

/** Models rarely send more than 300 tokens per second. A higher rate keeps the runs short. */
const RATE = 1_000;
const TOKENS = Number(values.tokens) || (values.quick ? 8_000 : 50_000);
const KINDS: readonly Kind[] = ["realistic", "words", "code", "paragraph"];
const TURNS = 500;
const ROWS = 1000;
const VISITS = values.quick ? 3 : 7;

const upstream = new Upstream();
const server = await serve(await upstream.listen(), values.port);
const report: Record<string, unknown> = {};
try {
  const answers = [];
  for (const kind of KINDS.filter(wanted)) {
    console.error(`  ${kind}: ${TOKENS} tokens ...`);
    answers.push(await measureAnswer(server.url, upstream, { kind, tokens: TOKENS, rate: RATE }));
  }
  if (answers.length > 0) {
    console.log(table("One answer while it is written", answerRows(answers)));
    console.log(table("The last tenth over the first", ratioRows(answers)));
    report.answers = answers;
  }
  if (wanted("compare")) {
    console.error("  four columns ...");
    const row = await measureCompare(server.url, upstream, values.quick ? 2_000 : 6_000, 300);
    console.log(table("Four answers side by side", [row]));
    report.compare = row;
  }
  if (wanted("chat")) {
    console.error("  a chat of 1,000 messages ...");
    const chat = await measureChat(server.url, TURNS);
    console.log(table("A chat is opened and typed into", openRows(chat)));
    console.log(table("It is scrolled", chatRows(chat)));
    report.chat = chat;
    const most = Math.max(chat.nodesAtEnd, chat.up.mostNodes, chat.down.mostNodes);
    if (most > MOST_NODES) {
      console.error(`too many nodes: ${most} of ${MOST_NODES}`);
      process.exitCode = 1;
    }
  }
  if (wanted("table")) {
    const tables = [];
    for (const form of ["table", "cards"] as const) {
      console.error(`  1,000 rows as ${form} ...`);
      tables.push(await measureTable(server.url, form, ROWS));
    }
    console.log(table("A table of 1,000 rows", tableRows(tables)));
    report.tables = tables;
  }
  if (wanted("first")) {
    console.error("  first visits on a slow line ...");
    const visits = { [`${LISTED} models`]: await measureListed(), simulator: await measureSimulated() };
    console.log(table("The first visit on a slow line, medians", visitRows(visits)));
    report.first = visits;
  }
} finally {
  await server.end();
  upstream.close();
  if (values.json) writeFileSync(values.json, JSON.stringify(report, null, 2));
}

/** Uses a separate server, because a server keeps its catalogue for an hour. */
async function measureListed(): Promise<readonly Visit[]> {
  const listing = new Upstream();
  listing.models = listed(LISTED);
  const there = await serve(await listing.listen(), "0");
  try {
    return await measureFirstVisit(there.url, VISITS);
  } finally {
    await there.end();
    listing.close();
  }
}

async function measureSimulated(): Promise<readonly Visit[]> {
  const there = await serve(undefined, "0");
  try {
    return await measureFirstVisit(there.url, VISITS);
  } finally {
    await there.end();
  }
}

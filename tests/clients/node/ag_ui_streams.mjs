// Reads streams with a version of the client of AG-UI: the file that the second argument names has them with what must come out.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { EventSchema } from "@ag-ui/core/schemas";
import { report } from "./checks.mjs";

const packages = { 1: "@ag-ui/client", 0: "ag-ui-client0" };
const { HttpAgent } = await import(packages[process.argv[2]]);
const streams = JSON.parse(await readFile(process.argv[3], "utf8"));

/** Run an agent on a stream; HttpAgent verifies the order of the events. */
async function stateAfter(stream) {
  const custom = [];
  const started = [];
  let last;
  let failure;
  const agent = new HttpAgent({
    url: "http://unused",
    fetch: async () => new Response(stream, { headers: { "content-type": "text/event-stream" } }),
  });
  await agent.runAgent({ runId: "r" }, {
    onEvent: ({ event }) => void (last = event),
    onCustomEvent: ({ event }) => void custom.push([event.name, event.value]),
    onToolCallStartEvent: ({ event }) => void started.push(event.toolCallId),
    onRunFailed: ({ error }) => void (failure = error),
  });
  assert.equal(failure, undefined);
  const ofRole = (role) => agent.messages.filter((message) => message.role === role);
  const results = Object.fromEntries(ofRole("tool").map(({ toolCallId, content }) => [toolCallId, content]));
  const calls = ofRole("assistant").flatMap((message) => message.toolCalls ?? []);
  return {
    ending: last.type,
    code: last.code ?? null,
    pending: started.filter((id) => !(id in results)),
    state: agent.state,
    custom,
    texts: Object.fromEntries([...ofRole("assistant"), ...ofRole("reasoning")].map(({ id, content }) => [id, content ?? ""])),
    calls: Object.fromEntries(calls.map(({ id, function: { name, arguments: text } }) =>
      [id, { name, arguments: text, ...(id in results && { result: results[id] }) }])),
  };
}

await report({
  async every_stream() {
    for (const [name, { stream, expected }] of Object.entries(streams)) {
      const state = JSON.parse(JSON.stringify(await stateAfter(stream)));
      assert.deepEqual(state, expected, name);
    }
  },
  async every_event() {
    for (const [name, { stream }] of Object.entries(streams)) {
      for (const frame of stream.split("\n\n").slice(0, -1)) {
        const event = JSON.parse(frame.replace(/^data: /, ""));
        assert.deepEqual(EventSchema.parse(event), event, name);
      }
    }
  },
});

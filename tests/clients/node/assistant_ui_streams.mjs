// Reads streams with assistant-ui's decoders: the file that the first argument names has them with what must come out.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import {
  AssistantMessageAccumulator,
  AssistantTransportDecoder,
  DataStreamDecoder,
  unstable_createInitialMessage,
} from "assistant-stream";
import { report } from "./checks.mjs";

const DECODERS = { "data-stream": DataStreamDecoder, "assistant-transport": AssistantTransportDecoder };
const streams = JSON.parse(await readFile(process.argv[2], "utf8"));

async function endOf(protocol, stream) {
  let error = null;
  const accumulator = new AssistantMessageAccumulator({
    initialMessage: unstable_createInitialMessage({ unstable_state: null }),
    strict: true,
    onError: (problem) => (error = problem),
  });
  const body = new Response(stream).body.pipeThrough(new DECODERS[protocol]({ strict: true })).pipeThrough(accumulator);
  let last;
  for await (const message of body) last = message;
  return { state: last.metadata.unstable_state, error };
}

await report(
  Object.fromEntries(
    Object.keys(DECODERS).map((protocol) => [
      `${protocol}: ${Object.keys(streams).length} streams`,
      async () => {
        for (const [name, expected] of Object.entries(streams)) {
          const { state, error } = await endOf(protocol, expected.streams[protocol]);
          assert.deepEqual(JSON.parse(JSON.stringify({ state, error })), { state: expected.state, error: expected.error }, name);
        }
      },
    ]),
  ),
);

// Reads streams with the AI SDK's client: the file that the second argument names has them with what must come out.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { Chat, DefaultChatTransport, lastAssistantMessageIsCompleteWithToolCalls } from "./ai_sdk_versions.mjs";
import { report } from "./checks.mjs";

const streams = JSON.parse(await readFile(process.argv[3], "utf8"));

async function messageOf(stream) {
  let requests = 0;
  let executed = 0;
  const chat = new Chat({
    transport: new DefaultChatTransport({
      api: "http://unused",
      fetch: () => {
        requests += 1;
        return new Response(stream, { headers: { "content-type": "text/event-stream" } });
      },
    }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
    onToolCall: () => void (executed += 1),
    onError() {},
  });
  await chat.sendMessage({ text: "Go." });
  await new Promise((resolve) => setImmediate(resolve));
  const parts = chat.lastMessage.parts;
  const textOf = (type) => parts.filter((part) => part.type === type).map((part) => part.text).join("");
  return {
    requests,
    executed,
    status: chat.status,
    error: chat.error?.message ?? null,
    text: textOf("text"),
    reasoning: textOf("reasoning"),
    tools: parts.filter((part) => part.toolCallId).map(({ toolCallId, state, input, output, errorText }) =>
      ({ toolCallId, state, input: input ?? undefined, output, errorText })),
    isWhole: parts.every((part) => !["streaming", "input-streaming"].includes(part.state)),
  };
}

await report({
  async every_stream() {
    for (const [name, { stream, expected }] of Object.entries(streams)) {
      const message = JSON.parse(JSON.stringify(await messageOf(stream)));
      assert.deepEqual(message, expected, name);
    }
  },
});

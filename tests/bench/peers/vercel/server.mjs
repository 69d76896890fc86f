// The Vercel AI SDK as its docs serve a chat from a plain Node server: streamText with a tool, out as a UI message stream.
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { isStepCount, pipeUIMessageStreamToResponse, streamText, tool, toUIMessageStream } from "ai";
import { z } from "zod";

const upstream = createOpenAICompatible({ name: "upstream", baseURL: process.env.UPSTREAM, apiKey: "sk-bench" });

const work = tool({
  description: "Works.",
  inputSchema: z.object({ ms: z.number().optional() }).loose(),
  execute: async (input) => {
    if (input.ms) await sleep(input.ms);
    return { characters: JSON.stringify(input).length };
  },
});

async function answer(request, response) {
  const { model, question, tools } = await json(request);
  const result = streamText({
    model: upstream(model),
    prompt: question,
    tools: tools ? { work } : undefined,
    stopWhen: isStepCount(8),
  });
  await pipeUIMessageStreamToResponse({ response, stream: toUIMessageStream({ stream: result.stream }) });
}

const server = createServer((request, response) => {
  answer(request, response).catch((error) => response.destroy(error));
});
server.listen({ port: Number(process.env.PORT), host: "127.0.0.1", backlog: 4096 });

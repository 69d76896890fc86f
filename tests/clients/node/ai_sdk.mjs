// The Vercel AI SDK with the provider that is named: `openai-compatible` or `openrouter`.
import assert from "node:assert/strict";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { createOpenRouter } from "@openrouter/ai-sdk-provider";
import { APICallError, generateText, isStepCount, stepCountIs, streamText, tool } from "ai";
import {
  BASE_URL, BOTH_TOOLS, CALCULATION, CITY, DESCRIPTION, MODEL, SERVER_TOOLS, URL,
  errorOf, expectBothResults, expectCancelled, getWeather, newestRun, report,
} from "./checks.mjs";

const providers = {
  "openai-compatible": (headers) =>
    createOpenAICompatible({ name: "signalbox", baseURL: BASE_URL, apiKey: "unused", includeUsage: true, headers }),
  openrouter: (headers) => createOpenRouter({ baseURL: `${URL}/api/v1`, apiKey: "unused", headers }),
};
const provider = providers[process.argv[2]];
const ours = provider({});
const both = provider(SERVER_TOOLS);
const weather = { description: DESCRIPTION, inputSchema: CITY };
const steps = (isStepCount ?? stepCountIs)(4);

await report({
  async whole() {
    const answer = await generateText({ model: ours.chatModel?.(MODEL) ?? ours(MODEL), prompt: CALCULATION });
    assert.equal(answer.finishReason, "stop");
    assert(answer.usage.totalTokens > 0);
  },
  async stream() {
    const model = ours("deepseek/sim");
    const answer = streamText({ model, prompt: CALCULATION });
    assert.match(await answer.text, /391/);
    assert(await answer.reasoningText);
    assert((await answer.usage).totalTokens > 0);
  },
  async server_tool() {
    const answer = await generateText({ model: ours(MODEL), prompt: CALCULATION });
    assert.match(answer.text, /391/);
    assert.deepEqual(answer.toolCalls, []);
  },
  async client_tool() {
    const messages = [{ role: "user", content: BOTH_TOOLS }];
    const tools = { get_weather: tool(weather) };
    const first = await generateText({ model: both(MODEL), messages, tools });
    assert.equal(first.finishReason, "tool-calls");
    const [{ toolCallId, toolName, input }] = first.toolCalls;
    const output = { type: "text", value: getWeather(input) };
    messages.push(...first.response.messages);
    messages.push({ role: "tool", content: [{ type: "tool-result", toolCallId, toolName, output }] });
    expectBothResults((await generateText({ model: both(MODEL), messages, tools })).text);
  },
  async agent() {
    const tools = { get_weather: tool({ ...weather, execute: getWeather }) };
    const request = { model: both(MODEL), prompt: BOTH_TOOLS, tools, stopWhen: steps };
    expectBothResults((await generateText(request)).text);
    expectBothResults(await streamText(request).text);
  },
  async error_before() {
    const error = await errorOf(() => generateText({ model: ours("unknown/model"), prompt: "Hi", maxRetries: 0 }));
    assert(APICallError.isInstance(error));
    assert.equal(error.statusCode, 404);
    assert.match(error.message, /unknown\/model/);
    assert.equal((await streamed("unknown/model")).error.statusCode, 404);
  },
  async error_after() {
    const { text, error } = await streamed("openai/sim-midstream-error");
    assert(text);
    assert.match(error.message ?? String(error), /overloaded/);
  },
  async abort() {
    const controller = new AbortController();
    const model = ours("openai/sim-stall");
    const answer = streamText({ model, prompt: "Hi", abortSignal: controller.signal, onError() {} });
    for await (const part of answer.fullStream) if (part.type.endsWith("-delta")) controller.abort();
    await expectCancelled(await newestRun());
  },
});

async function streamed(model) {
  let text = "";
  let error;
  const answer = streamText({ model: ours(model), prompt: "Hi", maxRetries: 0, onError() {} });
  for await (const part of answer.fullStream) {
    if (part.type === "text-delta") text += part.text;
    if (part.type === "error") error = part.error;
  }
  return { text, error };
}

// What a page of another origin does with the `openai` package; the test calls these functions in the browser.
import OpenAI from "openai";

const messages = [{ role: "user", content: "What is 17 * 23?" }];
const model = "openai/sim";

function completions(url, apiKey, defaultHeaders) {
  const client = new OpenAI({
    baseURL: `${url}/v1`,
    apiKey,
    maxRetries: 0,
    dangerouslyAllowBrowser: true,
    defaultHeaders,
  });
  return client.chat.completions;
}

globalThis.whole = async (url, apiKey) => {
  const headers = { "x-signalbox-tools": "calculate" };
  const { data, response } = await completions(url, apiKey, headers).create({ model, messages }).withResponse();
  return { id: data.id, text: data.choices[0].message.content, run: response.headers.get("x-run-id") };
};

globalThis.streamed = async (url, apiKey) => {
  const stream = completions(url, apiKey).stream({ model, messages, stream_options: { include_usage: true } });
  const { choices, usage } = await stream.finalChatCompletion();
  return { text: choices[0].message.content, tokens: usage.total_tokens };
};

globalThis.stopped = async (url, apiKey) => {
  const stream = await completions(url, apiKey).create({ model: "openai/sim-stall", messages, stream: true });
  for await (const { id } of stream) return { id };
};

/** Return how a request fails. */
globalThis.failed = async (url, apiKey) => {
  try {
    await completions(url, apiKey).create({ model, messages });
  } catch (error) {
    const { status = null, code = null } = error;
    return { isUnreachable: error instanceof OpenAI.APIConnectionError, status, code };
  }
};

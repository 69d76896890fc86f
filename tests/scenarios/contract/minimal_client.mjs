// The client of minimal_client.py for node: reads a stream from its input and prints what a person would be shown.
import { createInterface } from "node:readline";

const shown = { reasoning: "", text: "", calls: {}, warnings: [], done: false };
const take = {
  reasoning: ({ content }) => {
    shown.reasoning += content;
  },
  tool_calls: ({ calls }) => {
    for (const { id, name, arguments: text } of calls) shown.calls[id] = { name, arguments: JSON.parse(text) };
  },
  tool_executing: ({ id, category, visibility }) => Object.assign(shown.calls[id], { category, visibility }),
  tool_result: ({ id, result }) => Object.assign(shown.calls[id], { result }),
  content: ({ content }) => {
    shown.text += content;
  },
  warning: ({ message, code }) => shown.warnings.push([message, code ?? null]),
  done: ({ done }) => {
    shown.done = done;
  },
};

for await (const line of createInterface({ input: process.stdin }))
  if (line.startsWith("data:")) {
    const event = JSON.parse(line.slice(5));
    take[event.type]?.(event);
  }
console.log(JSON.stringify(shown));

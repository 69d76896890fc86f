// @microsoft/fetch-event-source asks a question as it does by itself, comes back whenever it is cut off, and prints what
// it heard: node fetch-event-source.mjs ADDRESS KEY BODY [careful]
import { hurry } from "./hurry.mjs";

hurry();
globalThis.window = globalThis;
globalThis.document = { hidden: false, addEventListener() {}, removeEventListener() {} };
const { default: client } = await import("@microsoft/fetch-event-source");

const [address, key, body, mode] = process.argv.slice(2);
const heard = [];
/** It notes an id when its line has come, before the event is whole: who wants no gap names what was really heard. */
const careful = (url, request) =>
  fetch(url, { ...request, headers: { ...request.headers, "last-event-id": heard.at(-1)?.[0] ?? "" } });
const over = new AbortController();
await client.fetchEventSource(address, {
  method: "POST",
  headers: { "content-type": "application/json", "idempotency-key": key },
  body,
  openWhenHidden: true,
  ...(mode === "careful" && { fetch: careful }),
  signal: over.signal,
  onmessage({ id, data }) {
    if (!data) return; // it takes a ping for a message
    heard.push([id, data]);
    if (JSON.parse(data).type === "done") over.abort();
  },
  onclose() {
    throw new Error("the stream ended before done");
  },
});
console.log(JSON.stringify({ heard }));

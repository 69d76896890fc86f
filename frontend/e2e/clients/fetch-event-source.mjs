// Sends a message with @microsoft/fetch-event-source, which reconnects after each connection loss, and prints the
// events: node fetch-event-source.mjs ADDRESS KEY BODY [careful]
import { hurry } from "./hurry.mjs";

hurry();
globalThis.window = globalThis;
globalThis.document = { hidden: false, addEventListener() {}, removeEventListener() {} };
const { default: client } = await import("@microsoft/fetch-event-source");

const [address, key, body, mode] = process.argv.slice(2);
const heard = [];
/** The client stores an id before its event is complete. To avoid gaps, send the id of the last complete event. */
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
    if (!data) return; // the client reports a ping as an empty message
    heard.push([id, data]);
    if (JSON.parse(data).type === "done") over.abort();
  },
  onclose() {
    throw new Error("the stream ended before done");
  },
});
console.log(JSON.stringify({ heard }));

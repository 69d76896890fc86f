// The npm package "eventsource" follows a run to its end and prints what it heard: node eventsource.mjs ADDRESS
import { EventSource } from "eventsource";
import { hurry } from "./hurry.mjs";

hurry();
const heard = [];
// Its timers let the process end while it waits to come back.
const awake = setInterval(() => undefined, 1000);
const source = new EventSource(process.argv[2]);
source.onmessage = ({ data, lastEventId }) => heard.push([lastEventId, data]);
source.onerror = ({ code }) => {
  if (source.readyState !== EventSource.CLOSED) return;
  // It stops by itself at 204: all was seen.
  clearInterval(awake);
  console.log(JSON.stringify({ code, heard }));
};

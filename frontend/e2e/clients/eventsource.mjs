// Follows a run with the npm package "eventsource" and prints the events: node eventsource.mjs ADDRESS
import { EventSource } from "eventsource";
import { hurry } from "./hurry.mjs";

hurry();
const heard = [];
// Its timers do not keep the process alive while it waits to reconnect.
const awake = setInterval(() => undefined, 1000);
const source = new EventSource(process.argv[2]);
source.onmessage = ({ data, lastEventId }) => heard.push([lastEventId, data]);
source.onerror = ({ code }) => {
  if (source.readyState !== EventSource.CLOSED) return;
  // It stops at a 204, after all events.
  clearInterval(awake);
  console.log(JSON.stringify({ code, heard }));
};

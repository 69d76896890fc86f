// Which waiting messages were sent by a tab of this browser: a duplicated tab has a copy of the queue.
import type { Box } from "./unconfirmedMessages.ts";

const KEY = "signalbox.sent";
const MOST = 50;

/** True for the tab that sends this message, false where another one has. Where nothing is stored, the server decides. */
export function claim(box: Box | undefined, id: string): boolean {
  try {
    const kept: unknown = JSON.parse(box?.getItem(KEY) ?? "[]");
    const sent = Array.isArray(kept) ? kept : [];
    if (sent.includes(id)) return false;
    box?.setItem(KEY, JSON.stringify([...sent, id].slice(-MOST)));
    return true;
  } catch {
    // A full box: the key of the message keeps the server from answering it twice.
    return true;
  }
}

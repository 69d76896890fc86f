// Remembers which queued messages were sent, so that a duplicated tab with a copy of the queue does not send them
// again.
import { ownKey } from "../../logic/baseUrl.ts";
import type { Box } from "./unconfirmedMessages.ts";

const KEY = ownKey("signalbox.sent");
const MOST = 50;

/** True if this tab may send the message, false if another tab has sent it. Without storage, the server decides. */
export function claimMessage(box: Box | undefined, id: string): boolean {
  try {
    const stored: unknown = JSON.parse(box?.getItem(KEY) ?? "[]");
    const sent = Array.isArray(stored) ? stored : [];
    if (sent.includes(id)) return false;
    box?.setItem(KEY, JSON.stringify([...sent, id].slice(-MOST)));
    return true;
  } catch {
    // The storage is full. The message's Idempotency-Key keeps the server from answering it twice.
    return true;
  }
}

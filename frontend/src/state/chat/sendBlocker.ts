// Why a message cannot be sent now: no connection, no token, or the models or tools are unknown.
import type { Hold } from "../../logic/chat/messageQueue.ts";
import type { RequestSettings } from "../../types/api.ts";
import type { ConnectivityState } from "../server/connectivity.ts";
import type { SessionState } from "../server/session.ts";

interface Known {
  network: ConnectivityState;
  server: Pick<SessionState, "listing" | "locked" | "preferred" | "tools" | "toolsTrouble">;
  ask: Pick<RequestSettings, "model" | "toolsOff">;
  compared: readonly string[];
}

export function sendBlocker({ network, server, ask, compared }: Known): Hold | undefined {
  if (network.offline) return "offline";
  if (server.locked) return "token";
  const hasModel = ask.model !== "" || compared.length > 1 || server.preferred !== "";
  if (!hasModel) return server.listing === "loading" ? "loading" : "no-models";
  // The remaining tools can be named only if all tools are known.
  const hasTools = ask.toolsOff.length === 0 || server.tools.length > 0 || server.toolsTrouble !== undefined;
  return hasTools ? undefined : "loading";
}

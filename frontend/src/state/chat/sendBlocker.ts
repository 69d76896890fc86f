// Why a question cannot be sent now: no connection, no token, or it is not known yet which model and tools to ask with.
import type { Hold } from "../../run/chat/messageQueue.ts";
import type { AskSettings } from "../../types/api.ts";
import type { NetworkState } from "../server/connectivity.ts";
import type { SessionState } from "../server/session.ts";

interface Known {
  network: NetworkState;
  server: Pick<SessionState, "listing" | "locked" | "preferred" | "tools" | "toolsTrouble">;
  ask: Pick<AskSettings, "model" | "toolsOff">;
  compared: readonly string[];
}

export function holdOf({ network, server, ask, compared }: Known): Hold | undefined {
  if (network.offline) return "offline";
  if (server.locked) return "token";
  const hasModel = ask.model !== "" || compared.length > 1 || server.preferred !== "";
  if (!hasModel) return server.listing === "loading" ? "loading" : "no-models";
  // Which tools stay on offer can be named only when all of them are known.
  const hasTools = ask.toolsOff.length === 0 || server.tools.length > 0 || server.toolsTrouble !== undefined;
  return hasTools ? undefined : "loading";
}

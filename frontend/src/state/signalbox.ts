// Creates the stores of the chat page: session, settings, chats and lists.

import { isReachable } from "@signalbox/client/requests";
import { ownKey } from "../logic/baseUrl.ts";
import { fillVariables } from "../logic/chat/variables.ts";
import { requestFields } from "../logic/request/parameters.ts";
import { browserStorage, tabStorage } from "./browserStorage.ts";
import type { Chat } from "./chat/chat.ts";
import { Chats } from "./chat/chats.ts";
import { claimMessage } from "./chat/queueClaims.ts";
import type { RequestSetup } from "./chat/requestBody.ts";
import { sendBlocker } from "./chat/sendBlocker.ts";
import { ChosenAnswers } from "./chosenAnswers.ts";
import { Conversations } from "./lists/conversations.ts";
import { SavedRuns } from "./lists/savedRuns.ts";
import { Connectivity } from "./server/connectivity.ts";
import { BASE_URL } from "./server/server.ts";
import { Session } from "./server/session.ts";
import { Settings } from "./settings.ts";

export interface Signalbox {
  session: Session;
  settings: Settings;
  chats: Chats;
  conversations: Conversations;
  saves: SavedRuns;
  /** Tell other tabs that this conversation has changed. */
  notifyTabs: (id: string) => void;
  /** Send waiting messages as soon as possible. Call the result to stop. */
  start: () => () => void;
  /** Listen to other tabs. Call the result to stop. */
  onTabMessage: (onMessage: (id: string) => void) => () => void;
}

const CHANNEL = ownKey("signalbox-chats");

export function createSignalbox(): Signalbox {
  const session = new Session();
  const settings = new Settings();
  const { client } = session;
  const conversations = new Conversations({ client });
  const saves = new SavedRuns({ client });
  const channel = typeof BroadcastChannel === "undefined" ? undefined : new BroadcastChannel(CHANNEL);
  const notifyTabs = (id: string) => channel?.postMessage(id);

  const asking = async (): Promise<RequestSetup> => {
    const { ask, compared, variants } = settings.state;
    // A message waits for the lists of models and tools only if it needs them.
    if (!ask.model || ask.toolsOff.length > 0) await session.listed();
    else if (ask.files) await session.toolsListed();
    const one = ask.model || session.state.preferred;
    const models = compared.length > 1 ? compared : Array.from({ length: variants }, () => one);
    for (const model of models) settings.used(model);
    return {
      models,
      system: fillVariables(ask.system, new Date()),
      fields: (model, at) => ({
        ...requestFields(ask, session.modelOf(model), session.state.tools),
        ...(models.length > 1 && models[at] === model && { column: at }),
      }),
    };
  };

  const network = new Connectivity({
    isOffline: () => navigator.onLine === false,
    events: window,
    reach: () => isReachable({ baseUrl: BASE_URL }),
  });
  const hold = () => sendBlocker({ network: network.state, server: session.state, ...settings.state });

  const chats = new Chats({
    client,
    asking,
    hold,
    claim: (id) => claimMessage(browserStorage(), id),
    box: tabStorage(),
    choices: new ChosenAnswers(browserStorage()),
    onUnauthorized: () => session.askForToken(),
    onProgress: (chat: Chat) => {
      void conversations.touch();
      notifyTabs(chat.id);
    },
  });

  const onTabMessage = (onMessage: (id: string) => void) => {
    if (!channel) return () => undefined;
    const listen = ({ data }: MessageEvent) => typeof data === "string" && onMessage(data);
    channel.addEventListener("message", listen);
    return () => channel.removeEventListener("message", listen);
  };

  /** Continue when the connection is back, a list has loaded, or a model was chosen. */
  const start = () => {
    let before = hold();
    const look = () => {
      const now = hold();
      if (now === before) return;
      before = now;
      chats.goOn();
    };
    const again = () => {
      session.reload();
      chats.goOn();
    };
    const stops = [
      onReturn(again),
      network.start(() => {
        session.reload();
        void conversations.load();
      }),
      ...[network, session, settings].map((store) => store.subscribe(look)),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  };

  return { session, settings, chats, conversations, saves, notifyTabs, onTabMessage, start };
}

/** Call `again` when the network or the user returns: failed requests may succeed now. */
function onReturn(again: () => void): () => void {
  const look = () => document.visibilityState === "visible" && again();
  window.addEventListener("online", again);
  document.addEventListener("visibilitychange", look);
  return () => {
    window.removeEventListener("online", again);
    document.removeEventListener("visibilitychange", look);
  };
}

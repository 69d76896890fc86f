// All that the chat page holds, put together once: the server, the reader's settings, the chats and the lists.
import { askFields } from "../run/parameters.ts";
import { fillVariables } from "../run/variables.ts";
import type { Asking } from "./asking.ts";
import type { Chat } from "./chat.ts";
import { Chats } from "./chats.ts";
import { Conversations } from "./conversations.ts";
import { Saves } from "./saves.ts";
import { Session } from "./session.ts";
import { Settings } from "./settings.ts";
import { tabStorage } from "./storage.ts";

export interface Signalbox {
  session: Session;
  settings: Settings;
  chats: Chats;
  conversations: Conversations;
  saves: Saves;
  /** Tell other tabs that something was said in this conversation. */
  told: (id: string) => void;
  /** Hear it from them; call the result to stop. */
  hear: (onTold: (id: string) => void) => () => void;
}

const CHANNEL = "signalbox-chats";

export function createSignalbox(): Signalbox {
  const session = new Session();
  const settings = new Settings();
  const { client } = session;
  const conversations = new Conversations({ client });
  const saves = new Saves({ client });
  const channel = typeof BroadcastChannel === "undefined" ? undefined : new BroadcastChannel(CHANNEL);
  const told = (id: string) => channel?.postMessage(id);

  const asking = async (): Promise<Asking> => {
    const { ask, compared } = settings.state;
    // Whoever types faster than the lists come waits for them only where the question hangs on them.
    if (!ask.model || ask.toolsOff.length > 0) await session.listed();
    const models = compared.length > 1 ? compared : [ask.model || session.state.preferred];
    for (const model of models) settings.used(model);
    return {
      models,
      system: fillVariables(ask.system, new Date()),
      fields: (model) => ({
        ...askFields(ask, session.modelOf(model), session.state.tools),
        ...(models.length > 1 && models.includes(model) && { column: models.indexOf(model) }),
      }),
    };
  };

  const chats = new Chats({
    client,
    asking,
    box: tabStorage(),
    onUnauthorized: () => session.askForToken(),
    onProgress: (chat: Chat) => {
      void conversations.touch();
      told(chat.id);
    },
  });

  const hear = (onTold: (id: string) => void) => {
    if (!channel) return () => undefined;
    const listen = ({ data }: MessageEvent) => typeof data === "string" && onTold(data);
    channel.addEventListener("message", listen);
    return () => channel.removeEventListener("message", listen);
  };

  return { session, settings, chats, conversations, saves, told, hear };
}

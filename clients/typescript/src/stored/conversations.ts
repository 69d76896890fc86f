// The conversations that the server stores.
import { type Call, type CallOptions, PAGE, pages } from "../calls.ts";
import {
  chooseLeaf,
  createConversation,
  deleteConversation,
  exportConversation,
  fetchConversation,
  fetchConversations,
  renameConversation,
} from "../requests/conversations.ts";
import { newIdempotencyKey } from "../requests/idempotencyKeys.ts";
import type { Conversation, ConversationLine } from "../types/api.ts";
import { Files } from "./files.ts";

/** The conversations of the token's owner. A question adds to one with `conversation_id` and `parent_id`. */
export class Conversations {
  readonly #call: Call;

  /** @internal */
  constructor(call: Call) {
    this.#call = call;
  }

  /** All conversations, the most recently used first, or those that contain a text. */
  list({ search = "", ...options }: CallOptions & { search?: string } = {}): AsyncGenerator<ConversationLine> {
    return pages((before) =>
      this.#call(options, (client) => fetchConversations(client, { search, limit: PAGE, ...(before && { before }) })),
    );
  }

  /** A conversation with all its branches. */
  get(id: string, options: CallOptions = {}): Promise<Conversation> {
    return this.#call(options, (client) => fetchConversation(client, id));
  }

  /** Create an empty conversation, or return the one that has this id. */
  create({
    title,
    id = newIdempotencyKey(),
    ...options
  }: CallOptions & { title?: string; id?: string } = {}): Promise<Pick<Conversation, "id" | "title">> {
    return this.#call(options, (client) => createConversation(client, id, title));
  }

  rename(id: string, title: string, options: CallOptions = {}): Promise<void> {
    return this.#call(options, (client) => renameConversation(client, id, title));
  }

  /** Select the branch that the next question follows, by the id of its last node. */
  select(id: string, leafId: string, options: CallOptions = {}): Promise<void> {
    return this.#call(options, (client) => chooseLeaf(client, id, leafId));
  }

  /** The selected branch as Markdown. */
  async export(id: string, options: CallOptions = {}): Promise<string> {
    return (await this.#call(options, (client) => exportConversation(client, id, "markdown"))).text;
  }

  /** The files of a branch. `nodeId` is the id of its last node; default: the end of the selected branch. */
  files(id: string, { nodeId }: { nodeId?: string } = {}): Files {
    return new Files(this.#call, { conversationId: id, nodeId });
  }

  /** Stop the active runs of a conversation, and delete it with its runs. Saves are kept. */
  async delete(id: string, options: CallOptions = {}): Promise<void> {
    await this.#call(options, (client) => deleteConversation(client, id));
  }
}

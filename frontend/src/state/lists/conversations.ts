// The list of conversations: search, rename, delete, export, and updates from other tabs and running answers.
import {
  deleteConversation,
  exportConversation,
  fetchConversations,
  renameConversation,
} from "@signalbox/client/requests";
import type { ConversationLine } from "../../types/api.ts";
import { saveFile } from "../download.ts";
import {
  type Page,
  PagedList,
  type PagedListOptions,
  type PagedListState,
  type PageWanted,
  wordsOf,
} from "./pagedList.ts";

export interface ConversationsState extends PagedListState<ConversationLine> {
  /** The text in the search field. */
  search: string;
}

export interface ConversationsOptions extends PagedListOptions {
  save?: typeof saveFile;
}

const SEARCH_MS = 150;
const LONGEST_TITLE = 200;

export class Conversations extends PagedList<ConversationLine, ConversationsState> {
  readonly #save: typeof saveFile;
  /** The search of the current list. The field is ahead of it while the user types. */
  #search = "";
  #stopSearch: (() => void) | undefined;
  /** New titles that the server has not confirmed. */
  readonly #titles = new Map<string, string>();

  constructor(options: ConversationsOptions) {
    super("conversations", { lines: [], state: "loading", trouble: undefined, hasMore: false, search: "" }, options);
    this.#save = options.save ?? saveFile;
  }

  /** Search for a text once typing pauses. */
  find(search: string): void {
    this.#stopSearch?.();
    this.#stopSearch = undefined;
    this.set({ search });
    this.flush();
    const wanted = search.trim();
    if (wanted === this.#search) return;
    const begin = () => {
      this.#search = wanted;
      void this.replace();
    };
    if (wanted) this.#stopSearch = this.later(begin, SEARCH_MS);
    else begin();
  }

  /** Set a title at once. If the server rejects it, the old title returns with an error. */
  async rename(id: string, wanted: string): Promise<void> {
    const title = [...wanted.replace(/\s+/g, " ").trim()].slice(0, LONGEST_TITLE).join("");
    if (!title || title === this.state.lines.find((line) => line.id === id)?.title) return;
    this.#titles.set(id, title);
    this.put({ trouble: undefined });
    this.show();
    let trouble: string | undefined;
    try {
      await renameConversation(this.client, id, title);
    } catch (error) {
      trouble = `The conversation could not be renamed. ${wordsOf(error)}`;
    }
    // A newer title may be under way.
    if (this.#titles.get(id) === title) this.#titles.delete(id);
    if (trouble) this.put({ trouble });
    else this.amend(id, { title });
    this.show();
  }

  /** Download a conversation as a file. */
  async export(id: string, format: "markdown" | "json"): Promise<void> {
    this.put({ trouble: undefined });
    try {
      const file = await exportConversation(this.client, id, format);
      this.#save(file.name, file.type, file.text);
    } catch (error) {
      this.put({ trouble: `The conversation could not be exported. ${wordsOf(error)}` });
    }
  }

  override close(): void {
    this.#stopSearch?.();
    super.close();
  }

  protected fetch(wanted: PageWanted): Promise<Page<ConversationLine>> {
    return fetchConversations(this.client, { ...wanted, search: this.#search });
  }

  protected erase(id: string): Promise<unknown> {
    return deleteConversation(this.client, id);
  }

  protected orderOf(line: ConversationLine): number {
    return line.updated;
  }

  protected isChanging(line: ConversationLine): boolean {
    return line.isRunning;
  }

  protected override withPendingChanges(line: ConversationLine): ConversationLine {
    const title = this.#titles.get(line.id);
    return title === undefined ? line : { ...line, title };
  }
}

// Unsaved edits of files. They outlast the editor: another tab, file or conversation may be shown meanwhile.
import { Store } from "../store.ts";

/** What an edit began with. */
export interface EditedFile {
  text: string;
  version: number;
  /** The run or message that wrote this version: the files of two variants have equal paths and numbers. */
  nodeId: string | undefined;
}

export interface FileDraft {
  base: EditedFile;
  text: string;
}

interface DraftsState {
  /** By conversation and path. */
  drafts: ReadonlyMap<string, FileDraft>;
}

const keyOf = (conversation: string, path: string): string => `${conversation} ${path}`;

const isChanged = ({ base, text }: FileDraft): boolean => text !== base.text;

export class FileDrafts extends Store<DraftsState> {
  constructor() {
    super({ drafts: new Map() });
  }

  of(conversation: string, path: string): FileDraft | undefined {
    return this.state.drafts.get(keyOf(conversation, path));
  }

  isUnsaved(conversation: string, path: string): boolean {
    const draft = this.of(conversation, path);
    return draft !== undefined && isChanged(draft);
  }

  begin(conversation: string, path: string, base: EditedFile): void {
    this.#put(conversation, path, { base, text: base.text });
  }

  change(conversation: string, path: string, text: string): void {
    const draft = this.of(conversation, path);
    if (draft) this.#put(conversation, path, { ...draft, text });
  }

  /** The draft ends with the text that was saved, unless the text has changed since: then it is an edit of `saved`. */
  saved(conversation: string, path: string, saved: EditedFile): void {
    const draft = this.of(conversation, path);
    if (draft) this.#put(conversation, path, draft.text === saved.text ? undefined : { base: saved, text: draft.text });
  }

  drop(conversation: string, path: string): void {
    this.#put(conversation, path, undefined);
  }

  /** Whether leaving the page loses an edit. Those of deleted conversations cannot be saved. */
  hasUnsaved(isDeleted: (conversation: string) => boolean): boolean {
    return [...this.state.drafts].some(([key, draft]) => isChanged(draft) && !isDeleted(key.split(" ")[0] ?? ""));
  }

  #put(conversation: string, path: string, draft: FileDraft | undefined): void {
    const drafts = new Map(this.state.drafts);
    if (draft) drafts.set(keyOf(conversation, path), draft);
    else drafts.delete(keyOf(conversation, path));
    this.set({ drafts });
    this.flush();
  }
}

export const fileDrafts = new FileDrafts();

let isGuarded = false;

/** The browser asks before the page is left with unsaved edits. The page listens once, also while no panel is open. */
export function warnBeforeLeaving(isDeleted: (conversation: string) => boolean): void {
  if (isGuarded) return;
  isGuarded = true;
  window.addEventListener("beforeunload", (event) => {
    if (fileDrafts.hasUnsaved(isDeleted)) event.preventDefault();
  });
}

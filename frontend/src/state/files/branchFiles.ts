// The files of the shown branch, with their contents.
import type { ApiClient } from "@signalbox/client/requests";
import type { FileVersion, StoredFile } from "../../types/files.ts";
import { Store } from "../store.ts";
import { type BranchPlace, fetchContent, fetchFiles, fileTrouble } from "./fileRequests.ts";

export interface BranchFilesState {
  files: readonly StoredFile[];
  /** The list has been loaded at least once. */
  isLoaded: boolean;
  /** Why the files could not be loaded, as a sentence. */
  trouble: string | undefined;
}

/** Contents are immutable: a version belongs to one node. */
const keyOf = ({ nodeId, path, version }: FileVersion): string => `${nodeId} ${path} ${version}`;

export class BranchFiles extends Store<BranchFilesState> {
  readonly client: ApiClient;
  readonly #contents = new Map<string, string | Blob>();
  #asked = 0;
  /** The end of the branch that was asked for last. */
  #wanted: string | undefined;
  /** Of the shown files: a change is sent to it, even while the files of another branch are being loaded. */
  place: BranchPlace;

  constructor(client: ApiClient, conversationId: string) {
    super({ files: [], isLoaded: false, trouble: undefined });
    this.client = client;
    this.place = { conversationId, nodeId: undefined };
  }

  /** Load the files at the end of a branch. A later call replaces an earlier one. */
  async load(nodeId = this.#wanted): Promise<void> {
    this.#wanted = nodeId;
    this.#asked++;
    const asked = this.#asked;
    const place = { ...this.place, nodeId };
    try {
      const files = await fetchFiles(this.client, place);
      if (asked !== this.#asked) return;
      this.place = place;
      this.#show(files);
      await Promise.all(files.map((file) => this.#loadContent(file, asked)));
      if (asked !== this.#asked) return;
      this.#show(files);
    } catch (error) {
      if (asked !== this.#asked) return;
      this.set({ trouble: fileTrouble("The files could not be loaded.", error) });
      this.flush();
    }
  }

  /** The content of any version. */
  async contentOf(file: FileVersion): Promise<string | Blob> {
    const known = this.#contents.get(keyOf(file));
    if (known !== undefined) return known;
    const content = file.isDeleted ? "" : await fetchContent(this.client, this.place, file);
    this.#contents.set(keyOf(file), content);
    return content;
  }

  async #loadContent(file: FileVersion, asked: number): Promise<void> {
    if (asked === this.#asked) await this.contentOf(file);
  }

  /** A file without its content keeps the one that is shown, so that a preview does not become empty. */
  #show(files: readonly FileVersion[]): void {
    const shown = new Map(this.state.files.map((file) => [file.path, file.content]));
    const withContent = files.map((file) => ({
      ...file,
      content: this.#contents.get(keyOf(file)) ?? shown.get(file.path),
    }));
    this.set({ files: withContent, isLoaded: true, trouble: undefined });
    this.flush();
  }
}

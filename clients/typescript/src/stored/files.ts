// The files of a conversation.
import type { Call, CallOptions } from "../calls.ts";
import {
  type BranchPlace,
  deleteFile,
  fetchArchive,
  fetchFile,
  fetchFiles,
  fetchFileVersions,
  restoreFile,
  writeFile,
} from "../requests/files.ts";
import { SignalboxError } from "../signalboxErrors.ts";
import type { BranchFile, FileContent, FileVersion } from "../types/files.ts";

/** What a change of a file replaces. */
export interface ChangeOptions extends CallOptions {
  /** If the file has another version, the change is rejected with `Conflict`. 0 means that the file must not exist. */
  baseVersion?: number;
}

/**
 * The files of a branch of a conversation. The methods that change a file return the new version. After `ConnectionLost`,
 * check with `versions` whether the change was made before you try again.
 */
export class Files {
  readonly #call: Call;
  readonly #place: BranchPlace;

  /** @internal */
  constructor(call: Call, place: BranchPlace) {
    this.#call = call;
    this.#place = place;
  }

  /** The newest version of each file, without deleted files. */
  list(options: CallOptions = {}): Promise<readonly BranchFile[]> {
    return this.#call(options, (client) => fetchFiles(client, this.#place));
  }

  /** The content of a version. Default: the newest one. */
  async get(path: string, { version, ...options }: CallOptions & { version?: number } = {}): Promise<FileContent> {
    checkPath(path);
    return this.#call(options, (client) => fetchFile(client, this.#place, path, version));
  }

  /** Write a new version: text, or the bytes of text or of an image. */
  async write(
    path: string,
    content: string | Uint8Array<ArrayBuffer> | Blob,
    { baseVersion, ...options }: ChangeOptions = {},
  ): Promise<FileVersion> {
    checkPath(path);
    return this.#call(options, (client) => writeFile(client, this.#place, path, content, baseVersion));
  }

  /** Delete a file from the branch. Its versions are kept, so you can restore the file. */
  async delete(path: string, { baseVersion, ...options }: ChangeOptions = {}): Promise<FileVersion> {
    checkPath(path);
    return this.#call(options, (client) => deleteFile(client, this.#place, path, baseVersion));
  }

  /** All versions of a file, the newest first, including deletions. */
  async versions(path: string, options: CallOptions = {}): Promise<readonly FileVersion[]> {
    checkPath(path);
    return this.#call(options, (client) => fetchFileVersions(client, this.#place, path));
  }

  /** Restore a version: its content becomes a new version. */
  async restore(path: string, version: number, options: CallOptions = {}): Promise<FileVersion> {
    checkPath(path);
    return this.#call(options, (client) => restoreFile(client, this.#place, path, version));
  }

  /** The newest version of each file as a zip archive. */
  archive(options: CallOptions = {}): Promise<Blob> {
    return this.#call(options, (client) => fetchArchive(client, this.#place));
  }
}

/** `fetch` resolves these parts, so the request would reach another endpoint. */
function checkPath(path: string): void {
  if (!path.split("/").some((part) => ["", ".", ".."].includes(part))) return;
  const advice = 'Use a path such as "css/style.css".';
  throw new SignalboxError("INVALID_REQUEST", `path: "${path}" has a part that is empty, "." or "..". ${advice}`);
}

// The files of conversations, in camel case and with times in milliseconds.

/** One version of a file, without its content. */
export interface FileVersion {
  path: string;
  /** Counts the versions of this path on the branch, from 1. */
  version: number;
  mediaType: string;
  /** In bytes. */
  size: number;
  author: "model" | "person";
  /** Epoch milliseconds. */
  created: number;
  /** The run that wrote the version, or the end of the branch when a person wrote it. */
  nodeId: string;
  isDeleted: boolean;
}

/** The newest version of a file. */
export interface BranchFile extends FileVersion {
  /** The number of versions of this path on the branch. */
  versions: number;
}

export interface FileContent {
  version: number;
  bytes: Uint8Array<ArrayBuffer>;
  /** The bytes as text. An image has no text. */
  readonly text: string;
}

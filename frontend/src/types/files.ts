// The files of a conversation's branch.
import type { FileVersion } from "@signalbox/client";

export type { FileVersion };

/** The newest version of a file, with its content once that is loaded. */
export interface StoredFile extends FileVersion {
  /** Text, or an image. Undefined while it loads. */
  content: string | Blob | undefined;
}

/** A file as the panel shows it: what is stored, and what a running answer has changed. */
export interface ShownFile {
  path: string;
  content: string | Blob | undefined;
  /** The newest stored version. 0 if the file is not stored yet. */
  version: number;
  /** A call that changes the file is not complete. */
  isGrowing: boolean;
}

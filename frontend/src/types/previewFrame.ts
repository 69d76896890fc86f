// The messages between the chat page and the frame that shows a preview.

/** Text, or the bytes of an image. */
export type FrameFile = string | Blob;

/** Where the reader has scrolled to. */
export interface ScrollPosition {
  x: number;
  y: number;
}

/**
 * `draft` shows files that are not complete, without their scripts. `live` shows complete ones. `print` is a draft that
 * may open the print dialog.
 */
export type FrameMode = "draft" | "live" | "print";

export type ToFrame =
  | {
      type: "files";
      mode: FrameMode;
      /** The changed files by path. A frame keeps the others. */
      changed: Readonly<Record<string, FrameFile>>;
      removed: readonly string[];
      /** The path of the shown page. */
      entry: string;
      scroll: ScrollPosition;
    }
  | { type: "snapshot" }
  | { type: "ping" };

export type FromFrame =
  | { type: "ready" }
  /** The files are shown. `isEmpty`: nothing is visible yet. */
  | { type: "shown"; isEmpty: boolean }
  | { type: "pong" }
  | { type: "scroll"; scroll: ScrollPosition }
  /** The reader follows a link to another site, or to a file. */
  | { type: "link"; url: string }
  | { type: "open"; path: string }
  | { type: "log"; level: LogLevel; text: string }
  /** The shown document as HTML, with references to files. */
  | { type: "snapshot"; html: string };

export type LogLevel = "error" | "warning" | "info";

// What a call that makes images has done, as a sentence with the number of images and the reason of each failure.
import type { CallItem } from "../../types/models.ts";
import { isOpen } from "../trace/items.ts";
import { plural } from "../wording/statusAndAmounts.ts";

export interface ImageFailure {
  /** The prompt, or the path of the original. */
  label: string;
  reason: string;
}

export interface ImageSentence {
  /** "Generated 3 of 4 images" */
  title: string;
  /** The first image. Undefined if none was made. */
  path: string | undefined;
  failures: readonly ImageFailure[];
  /** Why the whole call failed. */
  reason?: string;
}

interface Words {
  doing: string;
  did: string;
  /** The imperative, for a call that failed or was stopped. */
  order: string;
  /** How many images the arguments ask for. */
  wanted: (given: CallItem["arguments"]) => number;
}

const lengthOf = (list: unknown): number => (Array.isArray(list) ? list.length : 1);

const IMAGES = (count: number) => plural(count, "image");

const WORDS: Readonly<Record<string, Words>> = {
  generate_images: {
    ...{ doing: "Generating", did: "Generated", order: "Generate" },
    wanted: ({ prompts }) => lengthOf(prompts),
  },
  edit_image: { doing: "Editing", did: "Edited", order: "Edit", wanted: () => 1 },
  remove_background: {
    ...{ doing: "Removing the background of", did: "Removed the background of", order: "Remove the background of" },
    wanted: ({ paths }) => lengthOf(paths),
  },
};

/** Undefined for a call of another tool. */
export function imageSentence(call: CallItem): ImageSentence | undefined {
  if (call.name === "screenshot_preview") return screenshotSentence(call);
  const words = Object.hasOwn(WORDS, call.name) ? WORDS[call.name] : undefined;
  if (!words) return undefined;
  const images = imagesIn(call.artifact);
  const total = images.length || words.wanted(call.arguments);
  if (isOpen(call)) return { title: `${words.doing} ${IMAGES(total)}`, path: undefined, failures: [] };
  const failures = images.flatMap(failureOf);
  if (call.status !== "done") {
    const title = `${words.order} ${IMAGES(total)}: ${call.status === "failed" ? "failed" : "stopped"}`;
    const reason = failures.length === 0 && call.status === "failed" ? call.error : undefined;
    return { title, path: undefined, failures, ...(reason && { reason }) };
  }
  const made = total - failures.length;
  const title = `${words.did} ${made === total ? IMAGES(total) : `${made} of ${IMAGES(total)}`}`;
  return { title, path: pathIn(images), failures };
}

function screenshotSentence(call: CallItem): ImageSentence {
  const { page, screenshots, not_loaded: missing } = { ...(call.result as Screenshots | null | undefined) };
  const shown = [page, call.arguments.path, "index.html"].find((path) => typeof path === "string");
  if (isOpen(call)) return { title: `Taking screenshots of ${shown}`, path: undefined, failures: [] };
  if (call.status !== "done") {
    const title = `Take screenshots of ${shown}: ${call.status === "failed" ? "failed" : "stopped"}`;
    return {
      title,
      path: undefined,
      failures: [],
      ...(call.status === "failed" && call.error && { reason: call.error }),
    };
  }
  const images = imagesIn({ images: screenshots });
  const failures = [
    ...images.flatMap(failureOf),
    ...(Array.isArray(missing) ? missing : []).map((reason) => ({ label: "Not loaded", reason: String(reason) })),
  ];
  return { title: `Took ${plural(images.length, "screenshot")} of ${shown}`, path: pathIn(images), failures };
}

interface Screenshots {
  page?: unknown;
  screenshots?: unknown;
  not_loaded?: unknown;
}

interface ImageLine {
  path?: string;
  prompt?: unknown;
  source?: unknown;
  device?: unknown;
  error?: unknown;
}

const pathIn = (images: readonly ImageLine[]): string | undefined =>
  images.map(({ path }) => path).find((path) => typeof path === "string");

const imagesIn = (artifact: unknown): readonly ImageLine[] => {
  const { images } = { ...(artifact as { images?: unknown } | null | undefined) };
  return Array.isArray(images) ? images.filter((one) => typeof one === "object" && one !== null) : [];
};

const failureOf = ({ prompt, source, device, error }: ImageLine): readonly ImageFailure[] => {
  const label = [source, prompt, device].find((name) => typeof name === "string");
  return typeof error === "string" ? [{ label: String(label ?? "An image"), reason: error }] : [];
};

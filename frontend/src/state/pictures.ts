// Prepares images for sending: checks their type, shrinks them, and converts them to data URLs. Loaded on demand.
import type { Picture } from "../types/api.ts";
import { PICTURE_TYPES } from "./pictureTypes.ts";

export const MOST_PICTURES = 8;
/** A request may have 8 MB, and the text needs space too. Data URLs are ASCII, so a character is a byte. */
const MOST_TOGETHER = 7.5 * 1024 * 1024;
const MOST_BYTES = 1.5 * 1024 * 1024;
const MOST_SIDE = 2048;

/** A decoded image. */
export interface Decoded {
  width: number;
  height: number;
  /** Encodes it as a data URL of this size and type. Browsers may use another type. */
  encode: (width: number, height: number, type: string, quality: number) => string;
  close: () => void;
}

/** The browser functions that are used. Tests replace them. */
export interface Graphics {
  decode: (file: Blob) => Promise<Decoded>;
  read: (file: Blob) => Promise<string>;
}

export type Read = { picture: Picture } | { trouble: string };

/** Read the files in order. Each rejected file gets a sentence. */
export async function readPictures(
  files: readonly File[],
  before: readonly Picture[],
  graphics: Graphics = browser,
): Promise<{ pictures: readonly Picture[]; troubles: readonly string[] }> {
  const pictures: Picture[] = [];
  const troubles: string[] = [];
  for (const file of files) {
    const all = [...before, ...pictures];
    if (all.length >= MOST_PICTURES) {
      troubles.push(`A message can have at most ${MOST_PICTURES} images.`);
      break;
    }
    const read = await readPicture(file, graphics);
    if ("trouble" in read) troubles.push(read.trouble);
    else if (sizeOf([...all, read.picture]) > MOST_TOGETHER)
      troubles.push(`${read.picture.name} was not added: the images of a message can be 7.5 MB in total.`);
    else pictures.push(read.picture);
  }
  return { pictures, troubles };
}

export const sizeOf = (pictures: readonly Picture[]): number => pictures.reduce((sum, { url }) => sum + url.length, 0);

export async function readPicture(file: File, graphics: Graphics = browser): Promise<Read> {
  const name = file.name || "Picture";
  if (!PICTURE_TYPES.includes(file.type))
    return { trouble: `${name} was not added: only PNG, JPEG, WebP and GIF images are supported.` };
  let decoded: Decoded;
  try {
    decoded = await graphics.decode(file);
  } catch {
    return { trouble: `${name} was not added: it is not a readable image.` };
  }
  try {
    const fits = file.size <= MOST_BYTES && Math.max(decoded.width, decoded.height) <= MOST_SIDE;
    const url = fits ? await graphics.read(file) : shrink(decoded, file.type);
    return { picture: { id: crypto.randomUUID(), name, url } };
  } catch {
    return { trouble: `${name} was not added: it is too large.` };
  } finally {
    decoded.close();
  }
}

/** Reduce the size to the limit, then the quality, then the size again. */
function shrink({ width, height, encode }: Decoded, type: string): string {
  let url = "";
  for (let scale = Math.min(1, MOST_SIDE / Math.max(width, height)); scale > 0.01; scale /= 2) {
    const [wide, high] = [side(width, scale), side(height, scale)];
    for (const quality of [0.85, 0.7]) {
      url = encode(wide, high, type === "image/jpeg" ? type : "image/webp", quality);
      // Safari cannot write WebP and returns PNG, which is large.
      if (type !== "image/jpeg" && !url.startsWith("data:image/webp")) url = encode(wide, high, "image/jpeg", quality);
      if (bytesOf(url) <= MOST_BYTES && url.length > "data:,".length) return url;
    }
  }
  throw new Error("No size is small enough");
}

const side = (length: number, scale: number) => Math.max(1, Math.round(length * scale));

const bytesOf = (url: string) => ((url.length - url.indexOf(",") - 1) * 3) / 4;

const browser: Graphics = {
  async decode(file) {
    const image = await createImageBitmap(file);
    return {
      width: image.width,
      height: image.height,
      close: () => image.close(),
      encode(width, height, type, quality) {
        const canvas = document.createElement("canvas");
        canvas.width = width;
        canvas.height = height;
        const pen = canvas.getContext("2d");
        if (!pen) throw new Error("No canvas");
        pen.imageSmoothingQuality = "high";
        if (type === "image/jpeg") {
          // JPEG has no transparency. Transparent areas would become black.
          pen.fillStyle = "white";
          pen.fillRect(0, 0, width, height);
        }
        pen.drawImage(image, 0, 0, width, height);
        return canvas.toDataURL(type, quality);
      },
    };
  },
  read: (file) =>
    new Promise((resolve, reject) => {
      const reader = new FileReader();
      reader.onload = () => resolve(String(reader.result));
      reader.onerror = () => reject(reader.error);
      reader.readAsDataURL(file);
    }),
};

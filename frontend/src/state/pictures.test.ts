import { describe, expect, it } from "vitest";
import { type Graphics, MOST_PICTURES, readPictures } from "./pictures.ts";
import { pastedFiles } from "./pictureTypes.ts";

const MB = 1024 * 1024;

interface Encoding {
  width: number;
  height: number;
  type: string;
  quality: number;
}

/** A scripted canvas that records its calls. */
function scripted(width: number, height: number, bytes: (encoding: Encoding) => number, writesWebp = true) {
  const asked: Encoding[] = [];
  let open = 0;
  const graphics: Graphics = {
    async decode(file) {
      if (file.size === 13) throw new Error("InvalidStateError");
      open++;
      return {
        width,
        height,
        close: () => open--,
        encode(wide, high, type, quality) {
          const encoding = { width: wide, height: high, type, quality };
          asked.push(encoding);
          const written = type === "image/webp" && !writesWebp ? "image/png" : type;
          return `data:${written};base64,${"A".repeat((bytes(encoding) / 3) * 4)}`;
        },
      };
    },
    read: async (file) => `data:${file.type};base64,${"A".repeat(Math.ceil(file.size / 3) * 4)}`,
  };
  return { graphics, asked, open: () => open };
}

const file = (name: string, type: string, size = 300) => new File([new Uint8Array(size)], name, { type });
const tiny = () => 300;

describe("a picture", () => {
  it("is sent unchanged if it is small", async () => {
    const { graphics, asked, open } = scripted(640, 480, tiny);
    const { pictures, troubles } = await readPictures([file("a.gif", "image/gif")], [], graphics);
    expect(pictures).toMatchObject([{ name: "a.gif", url: expect.stringMatching(/^data:image\/gif;base64,A+$/) }]);
    expect(troubles).toEqual([]);
    expect(asked).toEqual([]);
    expect(open()).toBe(0);
  });

  it("is at most 2048 wide, with the same type", async () => {
    const { graphics, asked } = scripted(4096, 1000, tiny);
    await readPictures([file("a.jpg", "image/jpeg"), file("b.png", "image/png")], [], graphics);
    expect(asked).toEqual([
      { width: 2048, height: 500, type: "image/jpeg", quality: 0.85 },
      { width: 2048, height: 500, type: "image/webp", quality: 0.85 },
    ]);
  });

  it("loses quality first and then size, until it has 1.5 MB", async () => {
    const { graphics, asked } = scripted(2000, 1000, ({ width }) => (width > 600 ? 2 * MB : MB));
    const { pictures } = await readPictures([file("a.jpg", "image/jpeg", 2 * MB)], [], graphics);
    expect(asked.map(({ width, quality }) => [width, quality])).toEqual([
      [2000, 0.85],
      [2000, 0.7],
      [1000, 0.85],
      [1000, 0.7],
      [500, 0.85],
    ]);
    expect(pictures[0]?.url.length).toBeLessThan(1.5 * MB * 1.34);
  });

  it("becomes JPEG if the browser cannot write WebP", async () => {
    const { graphics } = scripted(3000, 3000, tiny, false);
    const { pictures } = await readPictures([file("a.png", "image/png")], [], graphics);
    expect(pictures[0]?.url).toMatch(/^data:image\/jpeg/);
  });

  it("is listed by name if it is no readable image, and the others are added", async () => {
    const { graphics, open } = scripted(10, 10, tiny);
    const files = [file("a.pdf", "application/pdf"), file("b.png", "image/png", 13), file("c.png", "image/png")];
    const { pictures, troubles } = await readPictures(files, [], graphics);
    expect(pictures.map(({ name }) => name)).toEqual(["c.png"]);
    expect(troubles).toEqual([
      "a.pdf was not added: only PNG, JPEG, WebP and GIF images are supported.",
      "b.png was not added: it is not a readable image.",
    ]);
    expect(open()).toBe(0);
  });

  it("is left out if it makes the request too large, and a smaller one still fits", async () => {
    const { graphics } = scripted(100, 100, tiny);
    const large = Array.from({ length: 4 }, (_, at) => file(`${at}.png`, "image/png", 1.5 * MB));
    const { pictures, troubles } = await readPictures([...large, file("s.png", "image/png")], [], graphics);
    expect(pictures.map(({ name }) => name)).toEqual(["0.png", "1.png", "2.png", "s.png"]);
    expect(troubles).toEqual(["3.png was not added: the images of a message can be 7.5 MB in total."]);
  });

  it("is one of at most eight, including earlier ones", async () => {
    const { graphics } = scripted(10, 10, tiny);
    const before = Array.from({ length: MOST_PICTURES - 1 }, (_, at) => ({ id: `${at}`, name: "x", url: "data:," }));
    const files = [file("a.png", "image/png"), file("b.png", "image/png"), file("c.png", "image/png")];
    const { pictures, troubles } = await readPictures(files, before, graphics);
    expect(pictures).toHaveLength(1);
    expect(troubles).toEqual(["A message can have at most 8 images."]);
  });
});

describe("pasted content", () => {
  const data = (types: string[], files: File[]) => ({ types, files }) as unknown as DataTransfer;
  const picture = file("image.png", "image/png");

  it("is the image, even with a page's address or a file's name", () => {
    expect(pastedFiles(data(["Files"], [picture]))).toEqual([picture]);
    expect(pastedFiles(data(["text/html", "Files"], [picture]))).toEqual([picture]);
    expect(pastedFiles(data(["text/plain", "Files"], [picture]))).toEqual([picture]);
  });

  it("is the text of a spreadsheet, not its image", () => {
    expect(pastedFiles(data(["text/plain", "text/html", "Files"], [picture]))).toEqual([]);
  });
});

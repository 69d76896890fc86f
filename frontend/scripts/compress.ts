// Compresses each built file to `.br` and `.gz` if that makes it smaller. The server sends the compressed files.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Plugin } from "vite";

/** File types worth compressing. Web fonts and bitmap images are compressed already. */
const KINDS = /\.(html|js|css|svg|ico|json|txt)$/;
const SMALLEST = 512;
/** Compression runs once per build, so it uses the maximum quality. One level lower makes files 2% larger. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };

export const compress = (): Plugin => ({
  name: "signalbox:compress",
  apply: "build",
  enforce: "post",
  writeBundle: {
    order: "post",
    sequential: true,
    async handler({ dir = "dist" }) {
      const names = (await readdir(dir, { recursive: true })).filter((name) => KINDS.test(name));
      await Promise.all(names.map((name) => compressFile(join(dir, name))));
    },
  },
});

async function compressFile(path: string): Promise<void> {
  const whole = await readFile(path);
  if (whole.length < SMALLEST) return;
  const [br, gz] = await Promise.all([promisify(brotliCompress)(whole, BROTLI), promisify(gzip)(whole, { level: 9 })]);
  if (br.length < whole.length) await writeFile(`${path}.br`, br);
  if (gz.length < whole.length) await writeFile(`${path}.gz`, gz);
}

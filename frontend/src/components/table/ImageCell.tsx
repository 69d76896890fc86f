// An image in a table, through this server. The page loads nothing from other servers: a remote address is a link.
import { useState } from "react";
import { serverPath } from "../../logic/baseUrl.ts";
import { type Row, textOf } from "../../logic/table/dataTable.ts";
import { webAddress } from "../../logic/trace/sources.ts";
import type { ImageFormat } from "../../types/dataTable.ts";

/** Addresses that the server has signed. */
const OWN = /^\/api\/images\/[\w.-]+$/;
const PIXELS = 64;

interface Props {
  format: ImageFormat;
  row: Row;
  address: string;
}

export function ImageCell({ format: { altKey, width = PIXELS, height = PIXELS }, row, address }: Props) {
  const [hasFailed, fail] = useState(false);
  if (OWN.test(address) && !hasFailed)
    return (
      <img
        src={serverPath(address)}
        alt={textOf(row, altKey)}
        width={width}
        height={height}
        loading="lazy"
        decoding="async"
        className="size-16 shrink-0 rounded-sm bg-sunken object-contain"
        onError={() => fail(true)}
      />
    );
  const href = webAddress(address);
  if (!href) return <span className="text-dim">No image</span>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      Open image
    </a>
  );
}

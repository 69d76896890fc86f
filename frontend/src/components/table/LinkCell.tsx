// A link in a table. Only http and https addresses, and documents of this server, become links.
import { ExternalLink } from "lucide-react";
import { type Row, textOf } from "../../logic/table/dataTable.ts";
import { isGuide, webAddress } from "../../logic/trace/sources.ts";
import type { LinkFormat } from "../../types/dataTable.ts";

interface Props {
  format: LinkFormat;
  row: Row;
  value: string;
}

export function LinkCell({ format: { hrefKey, external }, row, value }: Props) {
  const given = hrefKey === undefined ? value : textOf(row, hrefKey);
  const href = isGuide(given) ? given : webAddress(given);
  if (!href) return <bdi>{value}</bdi>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      <bdi>{value}</bdi>
      {external && <ExternalLink aria-hidden="true" className="ms-1 inline size-3 text-dim" />}
    </a>
  );
}

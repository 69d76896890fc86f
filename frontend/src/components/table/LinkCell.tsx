// A link in a table. Only http and https addresses, and documents of this server, become links.
import { serverPath } from "../../logic/baseUrl.ts";
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
  const href = isGuide(given) ? serverPath(given) : webAddress(given);
  if (!href) return <bdi>{value}</bdi>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer" dir="auto" className={external ? "external" : undefined}>
      {value}
    </a>
  );
}

import type { ReactNode } from "react";
import type { Cell, Column, Row } from "./dataTable";

/** Images that Signalbox has signed; any other address would tell a third party who looks at the page. */
const SIGNED = /^\/api\/images\/[\w.-]+$/;
const WEB = /^(https?:\/\/|\/guide\/)/;

/** One cell, in the format of its column. */
export function CellView({ column: { key, format }, row }: { column: Column; row: Row }): ReactNode {
  const cell = row[key] ?? "";
  if (cell === "") return <span className="dim">–</span>;
  switch (format?.kind) {
    case "currency":
      return numeral(cell, { style: "currency", currency: String(format.currency) });
    case "percent":
      return numeral(format.basis === "unit" ? Number(cell) / 100 : cell, { style: "percent", maximumFractionDigits: 2 });
    case "delta":
      return numeral(cell, { signDisplay: "exceptZero" });
    case "number":
      return `${numeral(cell, {})} ${format.unit ?? ""}`.trim();
    case "date":
      return new Date(String(cell)).toLocaleDateString();
    case "boolean":
      return cell ? "Yes" : "No";
    case "link":
      return <Link text={String(cell)} href={String(format.hrefKey ? row[String(format.hrefKey)] : cell)} />;
    case "image":
      return <Picture address={String(cell)} alt={String(row[String(format.altKey)] ?? "")} />;
    case "badge":
    case "status":
      return <span className="badge">{String(cell)}</span>;
    default:
      return Array.isArray(cell) ? cell.join(", ") : String(cell);
  }
}

function numeral(cell: Cell, options: Intl.NumberFormatOptions): string {
  return typeof cell === "number" ? new Intl.NumberFormat(undefined, options).format(cell) : String(cell);
}

function Link({ text, href }: { text: string; href: string }) {
  if (!WEB.test(href)) return text;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {text}
    </a>
  );
}

function Picture({ address, alt }: { address: string; alt: string }) {
  if (SIGNED.test(address)) return <img src={address} alt={alt} width={64} height={64} loading="lazy" />;
  return WEB.test(address) ? <Link text="Open image" href={address} /> : <span className="dim">No image</span>;
}

// The warnings of an answer, above it.
import { memo } from "react";
import { WARNINGS } from "../../../logic/wording/advice.ts";
import type { WarningItem } from "../../../types/models.ts";

interface Props {
  warnings: readonly WarningItem[];
}

export const WarningBanner = memo(function WarningBanner({ warnings }: Props) {
  if (warnings.length === 0) return null;
  return (
    <ul
      className="grid gap-1 rounded-sm border-lamp-running border-s-[3px] bg-amber-wash px-3 py-2 text-small"
      aria-label="Warnings"
    >
      {warnings.map((warning) => (
        <li key={warning.id} dir="auto" data-part="warning" data-code={warning.code} className="wrap-anywhere">
          {warning.message || WARNINGS[warning.code ?? ""] || warning.code}
        </li>
      ))}
    </ul>
  );
}, isSame);

function isSame(before: Props, after: Props): boolean {
  return (
    before.warnings.length === after.warnings.length &&
    before.warnings.every((warning, index) => warning === after.warnings[index])
  );
}

// What the reader should know about this answer, each once, above it and not in the way.
import { memo } from "react";
import type { WarningItem } from "../types/models.ts";

export const WarningBanner = memo(
  function WarningBanner({ warnings }: { warnings: readonly WarningItem[] }) {
    if (warnings.length === 0) return null;
    return (
      <ul className="warnings" aria-label="Warnings">
        {warnings.map((warning) => (
          <li key={warning.id}>{warning.message}</li>
        ))}
      </ul>
    );
  },
  (before, after) =>
    before.warnings.length === after.warnings.length &&
    before.warnings.every((warning, index) => warning === after.warnings[index]),
);

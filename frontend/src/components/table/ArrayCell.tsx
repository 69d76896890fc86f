// A list of short values in a cell. Further values are shown on request.
import { useState } from "react";
import { Button } from "../ui/Button.tsx";

type Value = string | number | boolean | null;

export function ArrayCell({ values, most = 3 }: { values: readonly Value[]; most?: number | undefined }) {
  const [isWhole, showAll] = useState(false);
  const shown = isWhole ? values : values.slice(0, most);
  const rest = values.length - shown.length;
  return (
    <ul className="inline-flex flex-wrap items-center gap-1">
      {shown.map((value, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a result does not change.
        <li key={index} dir="auto" className="rounded-full border border-edge px-2 text-tiny leading-[1.125rem]">
          {String(value ?? "–")}
        </li>
      ))}
      {rest > 0 && (
        <li>
          <Button onClick={() => showAll(true)} aria-label={`Show ${rest} more`}>
            +{rest}
          </Button>
        </li>
      )}
    </ul>
  );
}

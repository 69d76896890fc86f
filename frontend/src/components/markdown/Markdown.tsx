// An answer as blocks, each parsed when it stands; what was parsed is not looked at again (quirk H1).
import { startTransition, useEffect, useState } from "react";
import { BlockReader } from "../../run/markdown/blocks.ts";
import { Definitions, Group } from "./Block.tsx";
import { Citing } from "./CitationChip.tsx";
import type { ProseProps } from "./Prose.tsx";

export default function Markdown({ text, sources, settled }: ProseProps) {
  const [reader] = useState(() => new BlockReader());
  const { groups, definitions } = reader.read(text, settled);
  const missing = useMissing(groups.length);
  return (
    <Citing sources={sources}>
      <Definitions value={definitions}>
        {groups.slice(0, groups.length - missing).map((blocks, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: groups only ever grow at the end.
          <Group key={index} blocks={blocks} still={!settled && index < groups.length - 1} />
        ))}
      </Definitions>
    </Citing>
  );
}

/** So many groups of blocks are drawn in one go: about a tenth of a second. */
const AT_ONCE = 6;

/** How many are still to come: a long answer that comes into view is drawn group by group, so that keys are answered. */
function useMissing(count: number): number {
  const [missing, setMissing] = useState(() => Math.max(0, count - AT_ONCE));
  useEffect(() => {
    if (missing === 0) return;
    const frame = requestAnimationFrame(() => startTransition(() => setMissing(missing - 1)));
    return () => cancelAnimationFrame(frame);
  }, [missing]);
  return missing;
}

// An answer as blocks. Finished blocks are not parsed again (quirk H1).
import { startTransition, useEffect, useState } from "react";
import { BlockReader } from "../../logic/markdown/blocks.ts";
import { BlockGroup, Definitions } from "./Block.tsx";
import { CitationProvider } from "./CitationChip.tsx";
import type { ProseProps } from "./Prose.tsx";

export default function Markdown({ text, sources, settled }: ProseProps) {
  const [reader] = useState(() => new BlockReader());
  const { groups, definitions } = reader.read(text, settled);
  const missing = useUndrawnGroups(groups.length);
  return (
    <CitationProvider sources={sources}>
      <Definitions value={definitions}>
        {groups.slice(0, groups.length - missing).map((blocks, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: groups only ever grow at the end.
          <BlockGroup key={index} blocks={blocks} still={!settled && index < groups.length - 1} />
        ))}
      </Definitions>
    </CitationProvider>
  );
}

/** Groups of blocks that are rendered at once: about a tenth of a second. */
const AT_ONCE = 6;

/**
 * The number of groups still to render. A long answer is rendered group by group, so that key presses are handled in
 * between.
 */
function useUndrawnGroups(count: number): number {
  const [missing, setMissing] = useState(() => Math.max(0, count - AT_ONCE));
  useEffect(() => {
    if (missing === 0) return;
    const frame = requestAnimationFrame(() => startTransition(() => setMissing(missing - 1)));
    return () => cancelAnimationFrame(frame);
  }, [missing]);
  return missing;
}

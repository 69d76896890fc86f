// An answer as blocks, each parsed when it stands; what was parsed is not looked at again (quirk H1).
import { useState } from "react";
import { BlockReader } from "../../run/blocks.ts";
import { Definitions, Group } from "./Block.tsx";
import { Citing } from "./Cite.tsx";
import type { ProseProps } from "./Prose.tsx";

export default function Markdown({ text, sources, settled }: ProseProps) {
  const [reader] = useState(() => new BlockReader());
  const { groups, definitions } = reader.read(text, settled);
  return (
    <Citing sources={sources}>
      <Definitions value={definitions}>
        {groups.map((blocks, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: groups only ever grow at the end.
          <Group key={index} blocks={blocks} still={!settled && index < groups.length - 1} />
        ))}
      </Definitions>
    </Citing>
  );
}

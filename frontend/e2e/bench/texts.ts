// Generates answers with a given number of tokens of about four characters.

export type Kind = "realistic" | "words" | "code" | "paragraph";

const section = (n: number): string => `## Part ${n}: how the points are set

The signalman sets **route ${n}** from the frame, as *the rules* say in \`rule-${n}\`, and a bell answers when the block
ahead is clear. Nothing moves before that; the switch is locked by the train itself, which stands on the line.

- first the bell is rung, once for attention
- then the switch is moved
  - and it locks behind the train
- last the instrument shows *line clear*

1. ask the box ahead
2. wait for its answer

\`\`\`python
def clear(block: int, train: str | None = None) -> bool:
    """Say whether block ${n} is free of ${n + 1} trains."""
    occupied = {7: "express", ${n}: train or "goods"}
    return block not in occupied and block < ${n * 2 + 1}
\`\`\`

| block | state | bell |
|---|---|---:|
| ${n} | clear | ${n % 7} |
| ${n + 1} | occupied | 2 |

> The rule is older than the telegraph, and costs $${n} a year.

`;

const SENTENCE = "The signalman hears the bell, answers it, and moves the switch of the route that was asked for. ";
const PARTS: Record<Kind, (n: number) => string> = {
  realistic: section,
  words: () => `${SENTENCE.repeat(5).trim()}\n\n`,
  code: (n) =>
    `${n ? "" : "```typescript\n"}export const route${n} = (block: number): boolean => block % ${n + 2} === 0;\n`,
  paragraph: () => SENTENCE,
};

/** A text with this many tokens. A longer text begins like a shorter one. */
export function textOf(kind: Kind, tokens: number): readonly string[] {
  const parts: string[] = [];
  for (let length = 0, n = 0; length < tokens * 4; n++) {
    const part = PARTS[kind](n);
    parts.push(part);
    length += part.length;
  }
  return (parts.join("").match(/[\s\S]{1,4}/g) ?? []).slice(0, tokens);
}

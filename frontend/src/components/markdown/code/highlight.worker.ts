// Highlights code outside the main thread, with one highlighter per visible block.

import type { Answer, Question } from "./highlight.ts";
import { IncrementalHighlight } from "./incrementalHighlight.ts";
import { loadGrammar } from "./shikiLanguages.ts";

const colourings = new Map<number, Promise<IncrementalHighlight>>();

addEventListener("message", ({ data }: MessageEvent<Question>) => {
  if (data.text === undefined) colourings.delete(data.id);
  else answer(data.id, data.language, data.text);
});

function answer(id: number, language: Question["language"], text: string): void {
  const colouring = colourings.get(id) ?? loadGrammar(language).then((grammar) => new IncrementalHighlight(grammar));
  colourings.set(id, colouring);
  colouring
    .then((known) => known.add(text))
    .then(
      (change) => postMessage({ id, change } satisfies Answer),
      () => postMessage({ id } satisfies Answer),
    );
}

// Remembers the panels that the user has opened or closed, until the page is reloaded.
import { useCallback, useState } from "react";

export type TouchedPanels = ReadonlyMap<string, boolean>;

const NONE: TouchedPanels = new Map();

/** Not React state: the virtual list unmounts panels that are out of sight (quirk H3). */
const touchedByAnswer = new WeakMap<object, TouchedPanels>();

/** The map is keyed by stop id. `answer` is any object that identifies the answer. */
export function useTouchedPanels(answer: object): [TouchedPanels, (id: string, open: boolean) => void] {
  const [, show] = useState(0);
  const touch = useCallback(
    (id: string, open: boolean) => {
      touchedByAnswer.set(answer, new Map(touchedByAnswer.get(answer)).set(id, open));
      show((shown) => shown + 1);
    },
    [answer],
  );
  return [touchedByAnswer.get(answer) ?? NONE, touch];
}

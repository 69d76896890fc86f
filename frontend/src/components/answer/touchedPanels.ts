// Remembers the panels that the user has opened or closed, until the page is reloaded.
import { useCallback, useState } from "react";

export type Touched = ReadonlyMap<string, boolean>;

const NONE: Touched = new Map();

/** Not React state: the virtual list unmounts panels that are out of sight (quirk H3). */
const kept = new WeakMap<object, Touched>();

/** The map is keyed by stop id. `answer` is any object that identifies the answer. */
export function useTouched(answer: object): [Touched, (id: string, open: boolean) => void] {
  const [, show] = useState(0);
  const touch = useCallback(
    (id: string, open: boolean) => {
      kept.set(answer, new Map(kept.get(answer)).set(id, open));
      show((shown) => shown + 1);
    },
    [answer],
  );
  return [kept.get(answer) ?? NONE, touch];
}

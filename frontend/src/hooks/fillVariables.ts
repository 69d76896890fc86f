// Filling in the variables of a message before it is sent; values that nothing knows are asked for first.
import { useState } from "react";
import { fillVariables, missingVariables } from "../run/chat/variables.ts";

export interface Filling {
  /** Variables whose values are asked for now; undefined: nothing is asked. */
  asked: readonly string[] | undefined;
  /** Send the text as soon as all of its variables are filled in. */
  submit: (text: string) => void;
  /** Send it with these values. Variables without a value are sent as written. */
  fill: (values: Readonly<Record<string, string>>) => void;
  /** Send it as it was typed, to the letter. */
  sendAsWritten: () => void;
  cancel: () => void;
}

export function useFilling(onFilled: (text: string) => void): Filling {
  const [held, setHeld] = useState<{ text: string; names: readonly string[] }>();
  const send = (text: string) => {
    setHeld(undefined);
    onFilled(text);
  };
  return {
    asked: held?.names,
    submit: (text) => {
      const names = missingVariables(text).map(({ name }) => name);
      if (names.length > 0) setHeld({ text, names });
      else send(fillVariables(text, new Date()));
    },
    fill: (values) => held && send(fillVariables(held.text, new Date(), values)),
    sendAsWritten: () => held && send(held.text),
    cancel: () => setHeld(undefined),
  };
}

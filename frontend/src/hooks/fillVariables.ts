// Fills in the variables of a message before it is sent, and asks for unknown values.
import { useState } from "react";
import { fillVariables, missingVariables } from "../logic/chat/variables.ts";

export interface FillVariables {
  /** The variables whose values are asked for now. Undefined if none are. */
  asked: readonly string[] | undefined;
  /** Send the text once all of its variables have values. */
  submit: (text: string) => void;
  /** Send the text with these values. Variables without a value are sent as written. */
  fill: (values: Readonly<Record<string, string>>) => void;
  /** Send the text exactly as typed. */
  sendAsWritten: () => void;
  cancel: () => void;
}

export function useFillVariables(onFilled: (text: string) => void): FillVariables {
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

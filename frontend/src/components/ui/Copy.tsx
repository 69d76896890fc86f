// A button that copies text and shows the result.
import type { ReactNode } from "react";
import { useTemporaryMessage } from "../../hooks/temporaryMessage.ts";
import { Button, type ButtonProps } from "./Button.tsx";

interface Props extends Omit<ButtonProps, "onClick"> {
  /** Called on click, because the text may be long. */
  text: () => string;
  children?: ReactNode;
}

export function Copy({ text, children = "Copy", ...rest }: Props) {
  const [message, showMessage] = useTemporaryMessage();
  return (
    <Button {...rest} onClick={() => void copyText(text()).then(showMessage)}>
      {message ?? children}
    </Button>
  );
}

/** Resolves to the text to show. Pages at plain http addresses have no clipboard. */
export async function copyText(text: string): Promise<"Copied" | "Could not copy"> {
  try {
    await navigator.clipboard.writeText(text);
    return "Copied";
  } catch {
    return "Could not copy";
  }
}

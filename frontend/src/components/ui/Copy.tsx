// A button that copies a text, and says whether it could.
import type { ReactNode } from "react";
import { useSaid } from "../../hooks/temporaryMessage.ts";
import { Button, type ButtonProps } from "./Button.tsx";

interface Props extends Omit<ButtonProps, "onClick"> {
  /** Made when it is asked for: it may be long. */
  text: () => string;
  children?: ReactNode;
}

export function Copy({ text, children = "Copy", ...rest }: Props) {
  const [said, say] = useSaid();
  return (
    <Button {...rest} onClick={() => void copyText(text()).then(say)}>
      {said ?? children}
    </Button>
  );
}

/** Says whether the clipboard took it; plain http addresses have none. */
export async function copyText(text: string): Promise<"Copied" | "Could not copy"> {
  try {
    await navigator.clipboard.writeText(text);
    return "Copied";
  } catch {
    return "Could not copy";
  }
}

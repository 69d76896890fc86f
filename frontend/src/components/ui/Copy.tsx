// A button that copies a text, and says whether it could.
import { type ReactNode, useEffect, useState } from "react";
import { Button, type ButtonProps } from "./Button.tsx";

const SAID_MS = 1500;

interface Props extends Omit<ButtonProps, "onClick"> {
  /** Made when it is asked for: it may be long. */
  text: () => string;
  children?: ReactNode;
}

export function Copy({ text, children = "Copy", ...rest }: Props) {
  const [said, setSaid] = useState<string>();
  useEffect(() => {
    if (said === undefined) return;
    const timer = setTimeout(() => setSaid(undefined), SAID_MS);
    return () => clearTimeout(timer);
  }, [said]);
  return (
    <Button {...rest} onClick={() => void copyText(text()).then((done) => setSaid(done ? "Copied" : "Not allowed"))}>
      {said ?? children}
    </Button>
  );
}

/** True when the clipboard took it; plain http addresses have none. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

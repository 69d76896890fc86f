// A section that only the operator sees. For anyone else, it says which token is needed.
import type { ReactNode } from "react";
import { Button } from "../ui/Button.tsx";

interface Props {
  /** The server has recognized the operator. Undefined until it has responded. */
  isOperator: boolean | undefined;
  /** What the operator would see: "API tokens". */
  what: string;
  onToken: () => void;
  children: ReactNode;
}

export function OperatorOnly({ isOperator, what, onToken, children }: Props) {
  if (isOperator) return children;
  if (isOperator === undefined) return null;
  return (
    <div className="grid justify-items-center gap-3 rounded-md bg-sunken px-4 py-10 text-center">
      <p className="text-dim text-small">Only the operator can see {what}.</p>
      <Button look="outline" size="medium" onClick={onToken}>
        Enter the operator token
      </Button>
    </div>
  );
}

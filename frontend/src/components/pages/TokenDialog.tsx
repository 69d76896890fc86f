// Asks for a token when the server wants one; it is kept for this tab only.
import { type FormEvent, useId, useRef } from "react";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";

interface Props {
  open: boolean;
  onToken: (token: string) => void;
  onClose: () => void;
  title?: string;
  hint?: string;
  label?: string;
  /** The token that was given is not the one. */
  refused?: boolean;
}

export function TokenDialog({
  open,
  onToken,
  onClose,
  title = "This server asks for an access token.",
  hint = "It is kept in this tab and forgotten when you close it.",
  label = "Access token",
  refused = false,
}: Props) {
  const field = useRef<HTMLInputElement>(null);
  const refusal = useId();

  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const token = field.current?.value.trim();
    event.currentTarget.reset();
    if (token) onToken(token);
  };

  return (
    <Dialog open={open} onClose={onClose} title={title} description={hint} initialFocus={field}>
      {/* Closed, there is no field, and no password manager takes the page for a place to sign in. */}
      <form className="grid gap-4 px-4 pt-1 pb-4 text-small" autoComplete="off" onSubmit={submit}>
        <label className="grid gap-1.5 font-medium">
          {label}
          <input
            ref={field}
            type="password"
            autoComplete="off"
            data-1p-ignore
            data-lpignore="true"
            spellCheck={false}
            required
            aria-invalid={refused}
            aria-describedby={refused ? refusal : undefined}
            className="h-9 rounded-md border border-edge-strong bg-ground px-3 font-mono font-normal aria-invalid:border-lamp-failed"
          />
        </label>
        {refused && (
          <p id={refusal} role="alert" className="text-red-ink">
            This token was refused. Try another.
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button size="medium" onClick={onClose}>
            Not now
          </Button>
          <Button type="submit" look="primary" size="medium">
            Use token
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

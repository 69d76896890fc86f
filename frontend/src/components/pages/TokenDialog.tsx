// Asks for a token and says where to get it.
import { type FormEvent, type ReactNode, type Ref, useId, useRef } from "react";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";

interface Props {
  open: boolean;
  onToken: (token: string, remember: boolean) => void;
  onClose: () => void;
  title?: string;
  hint?: ReactNode;
  label?: string;
  /** The browser may store the token after its tabs are closed. */
  mayRemember?: boolean;
  /** The server rejected the entered token. */
  refused?: boolean;
}

export function TokenDialog({
  open,
  onToken,
  onClose,
  title = "Enter your access token",
  hint = <WhereFrom />,
  label = "Access token",
  mayRemember = true,
  refused = false,
}: Props) {
  const field = useRef<HTMLInputElement>(null);
  const box = useRef<HTMLInputElement>(null);
  const refusal = useId();

  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const input = field.current;
    const token = input?.value.trim();
    if (!input || !token) return;
    // A rejected token is cleared. The checkbox keeps its state.
    input.value = "";
    input.focus();
    onToken(token, box.current?.checked === true);
  };

  return (
    <Dialog open={open} onClose={onClose} title={title} description={hint} initialFocus={field}>
      {/* The field exists only while the dialog is open, so password managers see no login page. */}
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
            The server does not accept this token. It may be mistyped, expired or revoked.
          </p>
        )}
        {mayRemember && <Remember box={box} />}
        <div className="flex justify-end gap-2">
          <Button size="medium" onClick={onClose}>
            Not now
          </Button>
          <Button type="submit" look="primary" size="medium">
            Continue
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Written for users who have never heard of an access token. */
const WhereFrom = () => (
  <>
    This server is private. The person who runs it can give you a token: a line of letters and digits that works like a
    password. If you run it yourself, it is SIGNALBOX_ACCESS_TOKEN in the server's settings, or make one with{" "}
    <code className="font-mono">signalbox token create NAME</code>.
  </>
);

const Remember = ({ box }: { box: Ref<HTMLInputElement> }) => (
  <label className="grid cursor-pointer grid-cols-[auto_1fr] items-center gap-x-2">
    <input ref={box} type="checkbox" className="size-4 accent-accent" />
    Remember on this browser
    <span className="col-start-2 text-dim">
      Only on your own computer. Without this, the token is removed when you close all tabs of this page.
    </span>
  </label>
);

// Asks the user to sign in, if people sign in on this server. Otherwise asks for a token.
import { type ComponentProps, useEffect, useState } from "react";
import { fetchPerson, goToSignIn, type Person } from "../../state/server/signIn.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { TokenDialog } from "./TokenDialog.tsx";

type SignIn = Person["signIn"] | "unknown" | "token";

export function AccessDialog({ open, onClose, refused = false, ...rest }: ComponentProps<typeof TokenDialog>) {
  const [signIn, setSignIn] = useState<SignIn>("unknown");
  useEffect(() => {
    if (!open) return;
    let isCurrent = true;
    fetchPerson()
      // A token that was refused is removed by signing in again.
      .then((person) => (person.signedIn && !refused ? undefined : person.signIn))
      .catch(() => undefined)
      .then((found) => isCurrent && setSignIn(found));
    return () => {
      isCurrent = false;
    };
  }, [open, refused]);
  const isSignIn = signIn === "oidc" || signIn === "proxy";
  return (
    <>
      <TokenDialog {...rest} refused={refused} open={open && !isSignIn && signIn !== "unknown"} onClose={onClose} />
      <SignInDialog
        open={open && isSignIn}
        isProxy={signIn === "proxy"}
        onToken={() => setSignIn("token")}
        onClose={onClose}
      />
    </>
  );
}

interface SignInProps {
  open: boolean;
  /** A proxy signs people in when they open the page. */
  isProxy: boolean;
  onToken: () => void;
  onClose: () => void;
}

function SignInDialog({ open, isProxy, onToken, onClose }: SignInProps) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Sign in"
      description="This server is private. Your draft and messages that are waiting stay here while you sign in."
    >
      <div className="flex flex-wrap justify-end gap-2 px-4 pt-1 pb-4">
        <Button size="medium" onClick={onToken}>
          Use a token
        </Button>
        <Button size="medium" onClick={onClose}>
          Not now
        </Button>
        <Button look="primary" size="medium" onClick={() => (isProxy ? location.reload() : goToSignIn())}>
          Sign in
        </Button>
      </div>
    </Dialog>
  );
}

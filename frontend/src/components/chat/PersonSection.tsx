// The person who is signed in, in the settings, and a button that ends the session.
import { useEffect, useState } from "react";
import { csrfToken } from "../../state/server/csrfToken.ts";
import { fetchPerson, type Person, signOut } from "../../state/server/signIn.ts";
import { Button } from "../ui/Button.tsx";

export function PersonSection() {
  const [person, setPerson] = useState<Person>();
  const [trouble, setTrouble] = useState("");
  useEffect(() => {
    // Without the cookie, there is no session.
    if (csrfToken() !== undefined) fetchPerson().then(setPerson, () => undefined);
  }, []);
  if (!person?.signedIn) return null;
  const leave = () => {
    setTrouble("");
    signOut().catch((error: unknown) => setTrouble(error instanceof Error ? error.message : String(error)));
  };
  return (
    <section aria-label="Account" className="grid gap-2 border-edge border-t px-4 py-4 text-small">
      <h3 className="font-semibold">Account</h3>
      <p className="text-dim">
        Signed in as <bdi className="text-ink">{person.name}</bdi>
        {person.isOperator && " (operator)"}.
      </p>
      <Button look="outline" className="justify-self-start" onClick={leave}>
        Sign out
      </Button>
      {trouble && (
        <p role="alert" className="text-red-ink">
          Not signed out. {trouble}
        </p>
      )}
    </section>
  );
}

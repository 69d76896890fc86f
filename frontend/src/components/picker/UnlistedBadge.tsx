// Marks a chosen model that the server's list does not have; its button says so to a screen reader.
import { TriangleAlert } from "lucide-react";

export const Unlisted = () => (
  <span
    aria-hidden="true"
    title="Not in the model list. It may no longer be available."
    className="inline-flex shrink-0 items-center gap-1 rounded-full bg-amber-wash px-1.5 text-ink text-tiny"
    data-part="unlisted"
  >
    <TriangleAlert className="size-3" />
    <span className="narrow:hidden">Not listed</span>
  </span>
);

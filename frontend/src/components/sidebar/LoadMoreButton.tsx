// Loads more lines of a list when it comes into view or is clicked.
import { useEffect, useRef } from "react";
import { Button } from "../ui/Button.tsx";

interface Props {
  /** The number of lines. When it changes, the button is observed anew. */
  count: number;
  loadsAutomatically: boolean;
  onMore: () => void;
}

export function LoadMoreButton({ count, loadsAutomatically, onMore }: Props) {
  const button = useRef<HTMLButtonElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: an end that stays in view has to be seen again
  useEffect(() => {
    if (!loadsAutomatically || !button.current || typeof IntersectionObserver === "undefined") return;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && onMore());
    observer.observe(button.current);
    return () => observer.disconnect();
  }, [count, loadsAutomatically, onMore]);
  return (
    <Button ref={button} className="mx-auto mt-1 flex" onClick={onMore}>
      Show more
    </Button>
  );
}

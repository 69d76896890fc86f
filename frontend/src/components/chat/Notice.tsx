// A word on what was just done; it goes by itself.
import { useEffect } from "react";

const SHOWN_MS = 4000;

export function Notice({ words, onGone }: { words: string; onGone: () => void }) {
  useEffect(() => {
    if (!words) return;
    const timer = setTimeout(onGone, SHOWN_MS);
    return () => clearTimeout(timer);
  }, [words, onGone]);
  return (
    <div role="status" className="pointer-events-none fixed inset-x-0 bottom-28 z-50 flex justify-center px-4">
      {words && <p className="rounded-md bg-ink px-3.5 py-2 text-ground text-small shadow-over">{words}</p>}
    </div>
  );
}

// A block of code with its language and a button that copies it.
import { type ReactNode, useRef, useState } from "react";

export function Code({ language, children }: { language: string; children?: ReactNode }) {
  const block = useRef<HTMLPreElement>(null);
  const [said, setSaid] = useState("Copy");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(block.current?.textContent ?? "");
      setSaid("Copied");
    } catch {
      setSaid("Not allowed");
    }
    setTimeout(() => setSaid("Copy"), 1500);
  };
  return (
    <div className="code">
      <div className="code-head">
        <span>{language}</span>
        <button type="button" className="quiet" onClick={() => void copy()}>
          {said}
        </button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keyboard. */}
      <pre ref={block} tabIndex={0}>
        {children}
      </pre>
    </div>
  );
}

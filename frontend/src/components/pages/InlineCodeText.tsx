// Text in which `backquotes` mark code.
export function InlineCodeText({ children }: { children: string }) {
  return children.split("`").map((part, index) =>
    index % 2 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the words of a sentence do not move.
      <code key={index} className="rounded-sm bg-sunken px-1">
        {part}
      </code>
    ) : (
      part
    ),
  );
}

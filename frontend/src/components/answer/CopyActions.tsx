// Copies an answer as written, with its sources or reasoning, or as plain text (quirk H7).
import { ChevronDown } from "lucide-react";
import { useTemporaryMessage } from "../../hooks/temporaryMessage.ts";
import { type CopyKind, copiedText } from "../../logic/answer/copiedText.ts";
import { linkListsOf } from "../../logic/answer/stops.ts";
import { BASE_URL } from "../../logic/baseUrl.ts";
import type { RunTrace } from "../../types/models.ts";
import { Button } from "../ui/Button.tsx";
import { copyText } from "../ui/Copy.tsx";
import { Menu, MenuItem } from "../ui/Menu.tsx";

export function CopyActions({ trace }: { trace: RunTrace }) {
  const [message, showMessage] = useTemporaryMessage();
  const copy = (kind: CopyKind) =>
    void copyText(copiedText(trace, kind, `${location.origin}${BASE_URL}`)).then(showMessage);
  const hasSources = linkListsOf(trace).length > 0;
  const hasReasoning = trace.items.some((item) => item.kind === "reasoning" && /\S/.test(item.text));
  return (
    <span className="inline-flex">
      <Button onClick={() => copy("answer")}>{message ?? "Copy"}</Button>
      <Menu
        trigger={
          <Button size="icon-small" className="-ms-1 w-6 narrow:-ms-2 narrow:w-8" aria-label="More ways to copy">
            <ChevronDown aria-hidden="true" />
          </Button>
        }
      >
        {hasSources && <MenuItem onSelect={() => copy("sources")}>Copy with sources</MenuItem>}
        {hasReasoning && <MenuItem onSelect={() => copy("reasoning")}>Copy with reasoning</MenuItem>}
        <MenuItem onSelect={() => copy("plain")}>Copy as plain text</MenuItem>
      </Menu>
    </span>
  );
}

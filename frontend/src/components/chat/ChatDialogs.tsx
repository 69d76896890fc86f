// Dialogs over the chat, loaded when first opened: settings, shortcuts, another model for an answer.
import { useRef, useState } from "react";
import type { RetryReason } from "../../logic/answer/answerActions.ts";
import { otherModel, unlistedOf } from "../../logic/models/modelSearch.ts";
import type { Answer } from "../../state/answer/answer.ts";
import { changeRequestSettings } from "../../state/changeRequestSettings.ts";
import type { Chat } from "../../state/chat/chat.ts";
import type { Signalbox } from "../../state/signalbox.ts";
import { useStore } from "../../state/store.ts";
import type { ParameterName } from "../../types/api.ts";
import { ShortcutSheet } from "../composer/ShortcutSheet.tsx";
import { ModelPicker } from "../picker/ModelPicker.tsx";
import { SettingsPanel } from "../settings/SettingsPanel.tsx";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { PersonSection } from "./PersonSection.tsx";
import { TokenSection } from "./TokenSection.tsx";

export type DialogName =
  | { kind: "settings"; focused?: ParameterName | undefined }
  | { kind: "shortcuts" }
  | { kind: "retry"; questionKey: string; answer: Answer; reason?: RetryReason | undefined };

interface Props {
  dialog: DialogName;
  box: Signalbox;
  chat: Chat;
  onClose: () => void;
  /** A message was sent, so the message box gets the focus. */
  onAsked: () => void;
}

export default function ChatDialogs({ dialog, ...rest }: Props) {
  switch (dialog.kind) {
    case "settings":
      return <Settings focused={dialog.focused} {...rest} />;
    case "shortcuts":
      return <ShortcutSheet open onClose={rest.onClose} />;
    case "retry":
      return <RetryWith {...dialog} {...rest} />;
  }
}

type Shared = Omit<Props, "dialog">;

/** The system prompt belongs to the chat: an existing chat keeps its prompt until the user changes it. */
function Settings({
  box: { session, settings },
  chat,
  focused,
  onClose,
}: Shared & { focused: ParameterName | undefined }) {
  const field = useRef<HTMLInputElement>(null);
  const server = useStore(session);
  const state = useStore(settings);
  useStore(chat);
  const modelId = state.ask.model || server.preferred;
  const model = server.models.find(({ id }) => id === modelId);
  const system = chat.system ?? (chat.isEmpty ? state.ask.system : "");
  return (
    <Dialog open onClose={onClose} title="Settings" place="aside" {...(focused && { initialFocus: field })}>
      <div className="min-h-0 flex-1 overflow-y-auto">
        <SettingsPanel
          settings={{ ...state, ask: { ...state.ask, system } }}
          onAsk={(patch) => changeRequestSettings(settings, chat, patch)}
          onChange={(patch) => settings.change(patch)}
          model={model}
          details={model ?? unlistedOf(server.models, modelId)}
          tools={server.tools}
          toolsTrouble={server.toolsTrouble}
          defaults={server.defaultLimits}
          focused={focused && { name: focused, ref: field }}
        />
        <PersonSection />
        <TokenSection session={session} />
      </div>
    </Dialog>
  );
}

type RetryProps = Shared & Omit<Extract<DialogName, { kind: "retry" }>, "kind">;

/**
 * If the requested model does not exist, the chosen model also becomes the setting. A silent model is stopped only once
 * another model is asked.
 */
function RetryWith({ box: { session, settings }, chat, questionKey, answer, reason, onClose, onAsked }: RetryProps) {
  const { models, preferred, readiness } = useStore(session);
  const { ask, recent, starred } = useStore(settings);
  const unknown = reason === "unknown";
  const [model, setModel] = useState(() => {
    if (unknown) return "";
    const ids = [ask.model, ...recent, preferred, ...models.map(({ id }) => id)];
    return otherModel(answer.state.trace.model, ids);
  });
  const [listed, list] = useState(unknown);
  const retry = (chosen: string) => {
    onClose();
    if (unknown) settings.changeAsk({ model: chosen });
    settings.used(chosen);
    if (reason === "silent") void answer.stop();
    void chat.again(questionKey, chosen);
    onAsked();
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title="Regenerate with another model"
      description="Earlier answers stay. The new one is added as another version."
    >
      <div className="flex flex-col gap-3 p-4 pt-1">
        <div className="flex rounded-md border border-edge-strong">
          <ModelPicker
            models={models}
            value={model}
            onChange={unknown ? retry : setModel}
            recent={recent}
            starred={starred}
            onStar={(id) => settings.star(id)}
            simulated={readiness?.simulated === true}
            label="Model for the new answer"
            open={listed}
            onOpenChange={list}
          />
        </div>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose} size="medium">
            Cancel
          </Button>
          <Button look="primary" size="medium" onClick={() => retry(model)} disabled={!model}>
            Regenerate
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

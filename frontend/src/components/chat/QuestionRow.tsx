// One message in the chat, with its versions and its edit box.
import type { Chat } from "../../state/chat/chat.ts";
import type { Entry } from "../../state/chat/chatParts.ts";
import { BranchSwitch } from "./BranchSwitch.tsx";
import { Question } from "./Question.tsx";

interface Props {
  entry: Extract<Entry, { kind: "question" }>;
  chat: Chat;
  isEditing: boolean;
  onEdit: (key: string | undefined) => void;
  /** The edited message was sent, so the message box gets the focus. */
  onAsked: () => void;
}

export function QuestionRow({ entry: { part, alternatives }, chat, isEditing, onEdit, onAsked }: Props) {
  const at = alternatives.indexOf(part);
  const choose = (index: number) => {
    const other = alternatives[index];
    if (other) chat.choose(other.key);
  };
  const save = (text: string) => {
    onEdit(undefined);
    void chat.edit(part.key, text);
    onAsked();
  };
  return (
    <Question
      text={part.text}
      pictures={part.pictures}
      files={part.files}
      onEdit={() => onEdit(part.key)}
      editing={isEditing}
      onSaveEdit={save}
      onCancelEdit={() => onEdit(undefined)}
      switcher={
        alternatives.length > 1 && (
          <BranchSwitch
            label="message"
            index={at}
            count={alternatives.length}
            onPrevious={() => choose(at - 1)}
            onNext={() => choose(at + 1)}
          />
        )
      }
    />
  );
}

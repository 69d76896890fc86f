// In place of the message box where a run is followed by its address: what this is, and the way to stop it.

interface Props {
  running: boolean;
  stopping: boolean;
  onStop: () => void;
}

export function WatchLine({ running, stopping, onStop }: Props) {
  return (
    <div className="composer watch-line">
      <p>
        {running
          ? "You are following an answer that was asked for elsewhere."
          : "An answer that was asked for elsewhere."}
      </p>
      {running && (
        <button type="button" className="stop-button" disabled={stopping} onClick={onStop}>
          <svg viewBox="0 0 12 12" aria-hidden="true">
            <rect x="2" y="2" width="8" height="8" rx="1.5" />
          </svg>
          Stop
        </button>
      )}
    </div>
  );
}

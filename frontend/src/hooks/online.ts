// Whether the browser reports that it is offline.
import { useSyncExternalStore } from "react";

function subscribe(onChange: () => void): () => void {
  window.addEventListener("online", onChange);
  window.addEventListener("offline", onChange);
  return () => {
    window.removeEventListener("online", onChange);
    window.removeEventListener("offline", onChange);
  };
}

const isOffline = () => navigator.onLine === false;

export const useOffline = (): boolean => useSyncExternalStore(subscribe, isOffline, () => false);

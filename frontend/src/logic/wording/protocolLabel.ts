// The label of a client protocol, the API that a run was requested with.
const LABELS: Readonly<Record<string, string>> = { "chat-completions": "Chat completions" };

/** Protocols of newer servers are shown by name. */
export const protocolLabel = (protocol: string): string => LABELS[protocol] ?? protocol;

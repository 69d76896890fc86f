// The client of `useChat`, without React, in the version of the AI SDK that the first argument names.
const [sdk, react] = { 5: ["ai5", "ai-react5"], 6: ["ai6", "ai-react6"], 7: ["ai", "@ai-sdk/react"] }[process.argv[2]];

export const { Chat } = await import(react);
export const { DefaultChatTransport, lastAssistantMessageIsCompleteWithToolCalls } = await import(sdk);

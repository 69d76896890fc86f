"""Chats of the Vercel AI SDK over HTTP."""

"""A FastAPI app with Signalbox mounted, for embedded.spec.ts: `uvicorn host:app`."""

from fastapi import FastAPI
from signalbox.app import signalbox_app

chat = signalbox_app()
app = FastAPI(lifespan=chat.lifespan)
app.mount("/team/chat", chat)

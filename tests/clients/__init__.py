"""Real SDKs of OpenAI's and OpenRouter's APIs against a running Signalbox: `./just clients`."""

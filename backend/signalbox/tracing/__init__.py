"""OpenTelemetry traces: one trace per run, exported over OTLP/HTTP. Only `setup` and what it imports needs the SDK."""

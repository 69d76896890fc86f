"""The gateway that TensorZero's wheel carries, in Rust: this process only starts it and says where it listens."""
# Its packages are in its own environment, not in the project's.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

import signal
import sys

from tensorzero import _start_http_gateway

gateway = _start_http_gateway(
    config_file=sys.argv[1], clickhouse_url=None, postgres_url=None, valkey_url=None, async_setup=False
)
print(f"ready: {gateway.base_url}", file=sys.stderr, flush=True)
signal.pause()

"""A real relay in a process of its own, with a limit that makes pages, on loopback."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from websockets.sync.client import connect

CONFIG = """
DEBUG: false
relay_name: test
storage:
  sqlalchemy.url: sqlite+aiosqlite:///{folder}/relay.sqlite3
  num_concurrent_reqs: 10
  num_concurrent_adds: 2
  validators:
    - nostr_relay.validators.is_signed
purple:
  host: 127.0.0.1
  port: {port}
  workers: 1
  disable_compression: true
gunicorn:
  bind: 127.0.0.1:{port}
  workers: 1
  loglevel: error
authentication:
  enabled: false
message_timeout: 1800
subscription_limit: 32
max_limit: {limit}
"""


class Relay:
    """nostr-relay, started and killed by the test; its events outlive it."""

    def __init__(self, folder: Path, limit: int = 40) -> None:
        folder.mkdir()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"ws://127.0.0.1:{self.port}"
        self._config = folder / "relay.yaml"
        self._config.write_text(CONFIG.format(folder=folder, port=self.port, limit=limit), "utf-8")
        self._process = None
        self._log = folder / "log"

    def start(self):
        program = Path(sys.executable).with_name("nostr-relay")
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [program, "-c", self._config, "serve"],
                stdout=log,
                stderr=log,
                cwd=self._config.parent,
                start_new_session=True,
            )
        until = time.monotonic() + 30
        while time.monotonic() < until:
            try:
                with connect(self.url, proxy=None):
                    return self
            except OSError:
                time.sleep(0.05)
        raise AssertionError(self._log.read_text())

    def stop(self):
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)  # with its workers
            self._process.wait()
            self._process = None

    def publish(self, *events):
        """Give the relay events, and see that it takes them."""
        with connect(self.url, proxy=None) as client:
            for begin in range(0, len(events), 50):
                part = events[begin : begin + 50]
                for event in part:
                    client.send(json.dumps(["EVENT", event]))
                answers = [json.loads(client.recv(timeout=20)) for _ in part]
                assert all(answer[0] == "OK" and answer[2] for answer in answers), answers

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

"""Readers that hang, crash or eat memory: a reading process of tests imports them, and asks them first."""

from __future__ import annotations

import ctypes
import os
import re
import socket
import subprocess
import sys
import time

from backend.corpus import readers
from backend.corpus.files import FileFacts, Reading, SourceFile, TextSink


class BadReader:
    """Does what the file says."""

    media_type = "text/x-bad"
    held = bytearray()

    def accepts(self, file: SourceFile) -> bool:
        return file.name.endswith(".bad")

    def read(self, file: SourceFile, out: TextSink, reading: Reading) -> FileFacts:
        wanted = file.data.decode()
        out.add("something came before it ended")
        if wanted == "hang":
            time.sleep(600)
        elif wanted == "crash":
            os.abort()
        elif wanted == "segfault":
            ctypes.string_at(0)
        elif wanted == "spin":  # holds Python's lock all the while
            re.match("(a*)*b", "a" * 60)
        elif wanted == "quit":
            sys.exit(4)
        elif wanted == "call home":
            socket.create_connection(("127.0.0.1", 9), timeout=1)
        elif wanted == "run":
            subprocess.run([sys.executable, "-c", "pass"], check=False)
        elif wanted == "secrets":
            out.add(" ".join(sorted(name for name in os.environ if "API_KEY" in name)) or "none")
        elif wanted == "swell":
            self.held = bytearray(b"x") * 350_000_000
        elif wanted == "exit":
            os._exit(3)
        elif wanted == "eat":
            held = []
            while True:
                held.append(bytearray(20_000_000))
                time.sleep(0.01)
        elif wanted == "gulp":
            bytearray(8_000_000_000)
        elif wanted == "fault":
            raise KeyError("no such thing")
        elif wanted == "chatter":
            print("words on standard output")
            os.write(2, b"x" * 300_000)
        elif wanted == "steps":
            for page in range(30):
                reading.step("page", page, 30)
                time.sleep(0.02)
        out.add(f"process {os.getpid()}")
        return FileFacts(media_type=self.media_type)


readers.READERS = (BadReader(), *readers.READERS)

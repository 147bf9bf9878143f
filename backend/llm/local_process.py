"""What runs in the local chat server's own process: ``python -m backend.llm.local_process --port N``.

It ends with its parent: it reads its standard input, which closes when the parent goes, however that goes.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import IO

from backend.llm.local_server import HOST, READY
from backend.llm.weights import SMOLLM2_CONTEXT_TOKENS, SMOLLM2_MODEL, find_smollm2

_CACHE_RAM_MIB = 128  # llama.cpp's own default is 8 GB of prompt cache
_LONGEST_REPLY_TOKENS = 640


def serve(port: int, stdin: IO[str], stdout: IO[str]) -> None:
    """Run the server in this process until standard input closes; its first line says where it listens."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(find_smollm2())
    params.model_alias = {SMOLLM2_MODEL}
    params.hostnames = [HOST]
    params.port = port
    params.n_ctx = SMOLLM2_CONTEXT_TOKENS
    params.n_predict = _LONGEST_REPLY_TOKENS  # so small a model may ramble: a verdict takes 400 tokens
    params.n_parallel = 1  # slots share the context: one slot has all of it
    params.cache_ram_mib = _CACHE_RAM_MIB
    params.ui = False
    params.endpoint_slots = False  # it would show other callers' prompts
    params.verbosity = 0
    params.warmup = False
    # One core stays free. llama.cpp's threads wait for each other by spinning: with as many as there are cores, any
    # other work (an encoder, the page) makes it several times slower, measured 5 times with 2 threads on 2 busy cores.
    n_threads = max(1, (os.cpu_count() or 2) - 1)
    params.cpuparams.n_threads = n_threads
    params.cpuparams_batch.n_threads = n_threads
    server = xllamacpp.Server(params)
    stdout.write(f"{READY}{server.listening_address}\n")
    stdout.flush()
    while stdin.read(1024):
        pass
    # Without the usual farewell: native threads that still answer somebody must not hold the process.
    os._exit(0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Local chat server; ends when standard input closes.")
    parser.add_argument("--port", type=int, default=0)
    serve(parser.parse_args().port, sys.stdin, sys.stdout)

"""Ragduel: pick an embedding model for retrieval on your own documents.

Rooms, left to right (a room imports only from rooms to its left and from the ground floor)::

    corpus -> embedding -> retrieval -> judging -> reporting
    ground floor: errors, settings, prompts, store, jobs, llm
    on top: workspace (joins the rooms), then ui and cli
"""

import os

# OpenMP threads that wait by spinning take the processor from one another as soon as anything else runs: a query that
# takes 9 ms alone took 84 ms (and a duel 540 instead of 20) beside other work. Read when torch loads its OpenMP, so it
# is set before any room can import torch. Measured in benchmarks/README.md; an own setting is left alone.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# Progress is told by jobs; libraries' bars would only fill the server's log.
os.environ.setdefault("TQDM_DISABLE", "1")

__version__ = "0.1.0"

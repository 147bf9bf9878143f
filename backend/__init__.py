"""Ragduel: pick an embedding model for retrieval on your own documents.

Rooms, left to right (a room imports only from rooms to its left and from the ground floor)::

    corpus -> embedding -> retrieval -> judging -> reporting
    ground floor: errors, settings, prompts, store, jobs, llm
    on top: workspace (joins the rooms), then ui and cli
"""

__version__ = "0.1.0"

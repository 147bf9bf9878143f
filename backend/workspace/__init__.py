"""The rooms joined: what the pages and the command line call."""

from backend.workspace.corpus_work import default_chunking
from backend.workspace.types import ChatSettings, Check, DuelRequest, JudgeChoice, SessionKeys
from backend.workspace.workspace import Workspace

__all__ = ["ChatSettings", "Check", "DuelRequest", "JudgeChoice", "SessionKeys", "Workspace", "default_chunking"]

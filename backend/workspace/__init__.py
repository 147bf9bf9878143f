"""The rooms joined: what the pages and the command line call."""

from backend.workspace.types import ChatSettings, Check, DuelRequest, JudgeChoice, SessionKeys
from backend.workspace.workspace import Workspace

__all__ = ["ChatSettings", "Check", "DuelRequest", "JudgeChoice", "SessionKeys", "Workspace"]

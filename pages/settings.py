"""Settings: chat endpoint, embedding models, storage, and a check of everything."""

from backend.ui import chat_panel, health_panel, models_panel, shell
from backend.ui.workspace import workspace

with shell.begin(__file__, "Settings", "What Ragduel works with. Keys stay in this session."):
    ws = workspace()
    with shell.errors():
        models_panel.show(ws)
    with shell.errors():
        chat_panel.show(ws)
    with shell.errors():
        health_panel.storage(ws)
        health_panel.doctor(ws)

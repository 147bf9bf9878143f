"""The page registry: which pages there are. Everything else is in ``pages/`` and ``backend/``."""

import streamlit as st

from backend.ui import shell

page = st.navigation(
    [
        st.Page(
            "pages/duel.py",
            title="Duel",
            icon=":material/compare:",
            default=True,
            help="One question, two embedding models, their results side by side, and a blind verdict.",
        ),
        st.Page(
            "pages/corpora.py",
            title="Corpora",
            icon=":material/library_books:",
            url_path="corpora",
            help="Your documents: add, look into, delete; what each model would cut.",
        ),
        st.Page(
            "pages/verdicts.py",
            title="Verdicts",
            icon=":material/gavel:",
            url_path="verdicts",
            help="Every verdict so far, with filters and a CSV download.",
        ),
        st.Page(
            "pages/settings.py",
            title="Settings",
            icon=":material/settings:",
            url_path="settings",
            help="Chat endpoint, embedding models, storage, and a check of everything.",
        ),
    ]
)
shell.route()
page.run()

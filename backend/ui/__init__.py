"""What the pages share. With ``app.py`` and ``pages/`` the only code that imports streamlit.

Small files, one part of a page each; none of them imports a heavy library, so that the first page shows at once.
"""

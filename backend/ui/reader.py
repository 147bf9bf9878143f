"""Who reads: one id a browser, so that one reader's vote neither reveals a duel to the others nor takes their vote.

Streamlit has no identity without a login, but it gives each browser an XSRF cookie. The cookie is masked anew on each
request (``2|mask|masked token|time``); the token under the mask stays. Its hash is the reader's id.
"""

from __future__ import annotations

import hashlib
from itertools import cycle

import streamlit as st

_ID_LENGTH = 16


def reader_id() -> str:
    """The id of this browser; "" where the cookie is missing or of another form, which all such readers then share."""
    parts = str(st.context.cookies.get("_streamlit_xsrf", "")).split("|")
    try:
        mask, masked = bytes.fromhex(parts[1]), bytes.fromhex(parts[2])
    except (IndexError, ValueError):
        return ""
    if not mask or not masked:
        return ""
    token = bytes(a ^ b for a, b in zip(masked, cycle(mask), strict=False))
    return hashlib.sha256(b"ragduel reader " + token).hexdigest()[:_ID_LENGTH]

"""The word mark and the tab's icon, drawn here: nothing is fetched from elsewhere."""

from __future__ import annotations

from pathlib import Path

ICON = str(Path(__file__).with_name("icon.png"))
LOGO = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="132" height="32" viewBox="0 0 132 32" role="img" '
    'aria-label="Ragduel"><g fill="none" stroke="#2b857b" stroke-width="2.6" stroke-linecap="round">'
    '<path d="M3 8h9M3 16h6M3 24h9"/><path d="M29 8h-9M29 16h-6M29 24h-9"/></g>'
    '<path d="M16 5v22" stroke="#c77b30" stroke-width="2.2" stroke-linecap="round"/>'
    '<text x="39" y="22" font-family="Helvetica, Arial, sans-serif" font-size="19" '
    'font-weight="650" fill="#2b857b">Ragduel</text></svg>'
)

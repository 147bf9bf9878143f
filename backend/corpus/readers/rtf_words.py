"""Words of RTF that its reader acts upon (Rich Text Format 1.9.1), and the code pages behind its charsets."""

from __future__ import annotations

import codecs

CHARACTERS = {
    "tab": "\t", "line": "\n", "emdash": "—", "endash": "–", "emspace": "\u2003", "enspace": "\u2002", "bullet": "•",
    "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”", "lbr": "\n", "softline": "\n",
}  # fmt: skip
SYMBOLS = {"~": "\u00a0", "_": "\u2011", "-": "", "\\": "\\", "{": "{", "}": "}"}
# Groups that hold no text for a reader, or the same text once more.
SKIPPED_GROUPS = frozenset((
    "aftncn", "aftnsep", "aftnsepc", "annotation", "atnauthor", "atnid", "atrfend", "atrfstart", "author",
    "bkmkend", "bkmkstart", "buptim", "category", "colorschememapping", "colortbl", "comment", "company", "creatim",
    "datastore", "doccomm", "falt", "filetbl", "fldinst", "fonttbl", "footer", "footerf", "footerl", "footerr",
    "ftncn", "ftnsep", "ftnsepc", "generator", "header", "headerf", "headerl", "headerr", "hlinkbase", "keywords",
    "latentstyles", "listoverridetable", "listtable", "manager", "mmathPr", "nonshppict", "objalias", "objdata",
    "objsect", "operator", "panose", "pgptbl", "pict", "pnseclvl", "pntext", "pntxta", "pntxtb", "printim",
    "private1", "revtbl", "revtim", "rsidtbl", "rxe", "shprslt", "sp", "stylesheet", "subject", "tc", "tcn",
    "template", "themedata", "userprops", "wgrffmtfilter", "xe", "xmlnstbl",
))  # fmt: skip
# Groups marked as skippable whose text a reader of the page sees.
KEPT_GROUPS = frozenset(("shpinst", "shptxt", "shpgrp", "ud"))
PARAGRAPH_ENDS = frozenset(("par", "sect", "page", "column"))
CELL_ENDS = frozenset(("cell", "nestcell"))
ROW_ENDS = frozenset(("row", "nestrow"))

_BY_CHARSET = {
    77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gbk", 136: "big5", 161: "cp1253", 162: "cp1254",
    163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250",
    254: "cp437", 255: "cp850",
}  # fmt: skip


def charset_codec(charset: int, document: str) -> str:
    """Codec of a font's charset; that of the document where the font says nothing of its own."""
    return _BY_CHARSET.get(charset, document)


def page_codec(page: int) -> str:
    """Codec of a code page by its number; Windows-1252 for an unknown one."""
    name = {65001: "utf-8", 10000: "mac_roman", 936: "gbk", 0: "cp1252"}.get(page, f"cp{page}")
    try:
        return codecs.lookup(name).name
    except LookupError:
        return "cp1252"

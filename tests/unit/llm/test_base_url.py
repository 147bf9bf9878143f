from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.errors import InputError
from backend.llm import is_loopback, normalise_base_url


@pytest.mark.parametrize(
    ("pasted", "wanted"),
    [
        ("http://localhost:11434", "http://localhost:11434/v1"),
        ("  http://localhost:11434/v1/ \n", "http://localhost:11434/v1"),
        ("localhost:11434", "http://localhost:11434/v1"),
        ("127.0.0.1:8080", "http://127.0.0.1:8080/v1"),
        ("192.168.1.20:8000/v1", "http://192.168.1.20:8000/v1"),
        ("[::1]:8080", "http://[::1]:8080/v1"),
        ("http://[2001:db8::1]/v1", "http://[2001:db8::1]/v1"),
        ("ollama:11434", "http://ollama:11434/v1"),
        ("http://tei", "http://tei/v1"),
        ("api.openai.com", "https://api.openai.com/v1"),
        ("HTTPS://API.OpenAI.com/v1", "https://api.openai.com/v1"),
        ("https://api.openai.com/v1/chat/completions", "https://api.openai.com/v1"),
        ("https://api.openai.com/v1/embeddings/", "https://api.openai.com/v1"),
        ("https://api.openai.com/v1/models", "https://api.openai.com/v1"),
        ("https://h.example/v1/completions", "https://h.example/v1"),
        ("http://localhost:8080/chat/completions", "http://localhost:8080/v1"),
        ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1"),
        (
            "https://generativelanguage.googleapis.com/v1beta/openai/",
            "https://generativelanguage.googleapis.com/v1beta/openai",
        ),
        ("https://h.example/v1?api-version=1#part", "https://h.example/v1"),
        ("'https://h.example/v1'", "https://h.example/v1"),
        ("\ufeffhttp:\u2060//local\u200bhost\u2060:8099/v1", "http://localhost:8099/v1"),
    ],
)
def test_pasted_forms(pasted: str, wanted: str) -> None:
    assert normalise_base_url(pasted) == wanted
    assert normalise_base_url(wanted) == wanted


@pytest.mark.parametrize(
    "text",
    ["", "   ", "hello world", "ftp://h.example", "http://", "https:///v1", "http://a b.example",
     "sk-live-0123456789ab",
     "http://h.example:port", "http://h.example:99999", "file:///etc/passwd", "http://[::1", "http://-.example", "::"],
)  # fmt: skip
def test_nonsense(text: str) -> None:
    with pytest.raises(InputError):
        normalise_base_url(text)


@pytest.mark.parametrize(
    "text", ["https://me:hunter2secret@h.example/v1", "me:hunter2secret@h.example", "http://hunter2secret@h"]
)
def test_passwords_are_refused_and_not_quoted(text: str) -> None:
    with pytest.raises(InputError) as caught:
        normalise_base_url(text)
    assert "hunter2secret" not in repr(caught.value) + str(caught.value)


@given(st.text(max_size=60) | st.from_regex(r"(https?://)?[a-z.0-9\[\]:@]{1,20}(/[a-z0-9/?#]*)?", fullmatch=True))
def test_any_text_gives_a_stable_address_or_an_input_error(text: str) -> None:
    try:
        once = normalise_base_url(text)
    except InputError:
        return
    assert once.startswith(("http://", "https://"))
    assert not once.endswith("/")
    assert "@" not in once.split("/")[2]
    assert normalise_base_url(once) == once


def test_loopback() -> None:
    assert is_loopback("http://localhost:1/v1")
    assert is_loopback("http://127.0.0.9/v1")
    assert is_loopback("http://[::1]:1/v1")
    assert not is_loopback("http://10.0.0.1/v1")
    assert not is_loopback("https://localhost.example/v1")

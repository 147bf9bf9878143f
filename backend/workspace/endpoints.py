"""Which chat endpoint is in force, and which key may go to it."""

from __future__ import annotations

from dataclasses import asdict

from pydantic import SecretStr

from backend.errors import InputError
from backend.llm import ChatEndpoint, LocalChatServer, is_loopback, normalise_base_url
from backend.settings import Settings
from backend.store import Database
from backend.workspace.types import ChatSettings, SessionKeys

_NOTE = "chat settings"
OPENAI_BASE_URL = "https://api.openai.com/v1"


class ChatEndpoints:
    """Resolves the endpoint of the LLM judge and of HyDE: saved on the settings page, else from the environment.

    Args:
        settings: The environment's.
        database: Where the saved ones are, without keys.
        local: The local chat server.
    """

    def __init__(self, settings: Settings, database: Database, local: LocalChatServer) -> None:
        self._settings = settings
        self._database = database
        self._local = local

    def in_force(self) -> ChatSettings:
        """The settings in force; ``base_url`` is empty where nothing is set."""
        saved = self._database.note(_NOTE)
        if saved is not None:
            return ChatSettings(**saved)
        return ChatSettings(
            base_url=self._environment_url(),
            model=self._settings.llm_model,
            price_input_usd=self._settings.llm_price_input_usd,
            price_output_usd=self._settings.llm_price_output_usd,
        )

    def save(self, chosen: ChatSettings | None) -> None:
        """Keep the settings; None goes back to the environment's."""
        if chosen is None:
            self._database.set_note(_NOTE, None)
            return
        base_url = normalise_base_url(chosen.base_url) if chosen.base_url.strip() else ""
        self._database.set_note(_NOTE, {**asdict(chosen), "base_url": base_url, "model": chosen.model.strip()})

    def endpoint(self, keys: SessionKeys, *, base_url: str = "", model: str = "") -> ChatEndpoint | None:
        """The endpoint to ask, or None where nothing is set.

        Args:
            keys: A key typed in this session goes before the environment's.
            base_url: Overrides the one in force.
            model: Likewise.

        Raises:
            InputError: There is an endpoint, but no model name.
        """
        chosen = self.in_force()
        # A verdict of the local server names the port that it had then.
        was_local = bool(base_url) and is_loopback(normalise_base_url(base_url)) and model == self._local.model
        if chosen.use_local and (not base_url or was_local):
            if model not in {"", self._local.model}:
                raise InputError(
                    f"The local chat server is switched on, and has no model {model}.",
                    hint=f"Name an address too, or leave the model out for {self._local.model}.",
                )
            return self.local_endpoint()
        url = normalise_base_url(base_url) if base_url else chosen.base_url
        if not url:
            return None
        name = model or chosen.model
        if not name:
            raise InputError(
                f"No chat model is named for {url}.", hint="Name one on the settings page, or set RAGDUEL_LLM_MODEL."
            )
        same = url == chosen.base_url
        return ChatEndpoint(
            base_url=url,
            model=name,
            api_key=self.key_for(url, keys),
            timeout_s=self._settings.llm_timeout_s,
            max_retries=self._settings.llm_max_retries,
            price_input_usd=chosen.price_input_usd if same else 0.0,
            price_output_usd=chosen.price_output_usd if same else 0.0,
        )

    def local_endpoint(self) -> ChatEndpoint:
        """The local chat server, started if need be."""
        self._local.start()
        return ChatEndpoint(
            base_url=self._local.base_url,
            model=self._local.model,
            timeout_s=max(self._settings.llm_timeout_s, 120.0),
            max_retries=self._settings.llm_max_retries,
        )

    def key_for(self, url: str, keys: SessionKeys) -> SecretStr:
        """The key for a chat endpoint. A key goes to the address it was given for, and nowhere else."""
        if keys.chat.get_secret_value() and keys.chat_url and url == normalise_base_url(keys.chat_url):
            return keys.chat
        return self._settings.llm_api_key if url == self._environment_url() else SecretStr("")

    def embedding_key_for(self, base_url: str, keys: SessionKeys) -> SecretStr:
        """The key for an embedding endpoint: typed for it, the environment's for it, or the chat key of its address."""
        if not base_url:
            return SecretStr("")
        url = normalise_base_url(base_url)
        for given, key in keys.embedding.items():
            if normalise_base_url(given) == url:
                return key
        own = self._settings.embedding_base_url.strip()
        if own and normalise_base_url(own) == url:
            return self._settings.embedding_api_key
        return self.key_for(url, keys)

    def _environment_url(self) -> str:
        if self._settings.llm_base_url.strip():
            return normalise_base_url(self._settings.llm_base_url)
        return OPENAI_BASE_URL if self._settings.llm_api_key.get_secret_value() else ""

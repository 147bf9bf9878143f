"""The model registry: what comes with Ragduel and what people added."""

from __future__ import annotations

import difflib
from dataclasses import replace

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from backend.embedding.builtin import BUILTIN_MODELS
from backend.embedding.types import ModelSpec
from backend.errors import InputError, NotFoundError
from backend.store import Database, now_iso
from backend.store.tables import ModelRow

_BUILTIN = {spec.key: spec for spec in BUILTIN_MODELS}
_LONGEST_KEY = 200


class ModelRegistry:
    """Models by key. ``KEY@256`` names the model of that key cut to 256 dimensions.

    Args:
        database: Holds the models that people add.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def list(self) -> tuple[ModelSpec, ...]:
        """All models: the built-in ones first, then the added ones in the order they came."""
        with self._database.session() as session:
            rows = session.scalars(select(ModelRow).order_by(ModelRow.created_at, ModelRow.key)).all()
            added = [ModelSpec.from_json(row.spec) for row in rows]
        return (*BUILTIN_MODELS, *added)

    def get(self, key: str) -> ModelSpec:
        """The model of this key, or a cut of it (``KEY@DIMENSION``).

        Raises:
            NotFoundError: There is no such model; names the ones that are spelt nearly so.
            InputError: The model can't be cut to this dimension.
        """
        name, mark, cut = key.partition("@")
        if not mark:
            return self._whole(key)
        if not cut.isdecimal():
            raise InputError(
                f"“{key}” isn't a model's key.", hint="After the @ stands a number of dimensions, as in wordllama@128."
            )
        return self.variant(name, int(cut))

    def variant(self, key: str, truncate_dimension: int) -> ModelSpec:
        """The model cut to the first ``truncate_dimension`` numbers of its vectors (Matryoshka).

        Raises:
            NotFoundError: There is no such model.
            InputError: Its authors don't mean it to be cut there.
        """
        spec = self._whole(key)
        if truncate_dimension not in spec.dimensions:
            choices = ", ".join(map(str, spec.dimensions))
            raise InputError(
                f"The model “{key}” can't be cut to {truncate_dimension} dimensions.",
                hint=f"Its authors allow {choices}." if choices else "Its authors don't mean it to be cut.",
            )
        if truncate_dimension == spec.dimension:
            return spec
        return replace(spec, key=f"{key}@{truncate_dimension}", truncate_dimension=truncate_dimension)

    def add(self, spec: ModelSpec) -> ModelSpec:
        """Keep a model that a person added, after a probe has filled in its facts.

        Raises:
            InputError: The key is blank, taken, too long or holds an ``@``; or the model's name is blank.
        """
        key = spec.key.strip()
        if not key or not key.isprintable():
            raise InputError("The model needs a name.", hint="Give it a short key, for example my-model.")
        if "@" in key or len(key) > _LONGEST_KEY:
            raise InputError(
                f"“{key[:40]}” can't be a model's key.",
                hint=f"Use at most {_LONGEST_KEY} characters and no @ (it stands before a cut, as in wordllama@128).",
            )
        if not spec.name.strip():
            raise InputError(f"The model “{key}” has no hub id, folder or endpoint name.")
        if key in _BUILTIN:
            raise InputError(f"“{key}” is a built-in model.", hint="Choose another key.")
        spec = replace(spec, key=key)
        try:
            with self._database.session() as session:
                session.add(ModelRow(key=key, spec=spec.as_json(), created_at=now_iso()))
        except IntegrityError:
            raise InputError(
                f"There is a model “{key}” already.", hint="Choose another key, or remove the old one first."
            ) from None
        return spec

    def remove(self, key: str) -> None:
        """Forget a model that a person added. Its vectors stay in the cache, under their fingerprint.

        Raises:
            InputError: The model is built in.
            NotFoundError: There is no such model.
        """
        if key in _BUILTIN:
            raise InputError(f"“{key}” is a built-in model and stays.")
        with self._database.session() as session:
            row = session.get(ModelRow, key)
            if row is not None:
                session.delete(row)
                return
        raise self._unknown(key)

    def is_builtin(self, key: str) -> bool:
        """Whether the model (or the one it is a cut of) came with Ragduel."""
        return key.partition("@")[0] in _BUILTIN

    def _whole(self, key: str) -> ModelSpec:
        if key in _BUILTIN:
            return _BUILTIN[key]
        with self._database.session() as session:
            row = session.get(ModelRow, key)
            if row is not None:
                return ModelSpec.from_json(row.spec)
        raise self._unknown(key)

    def _unknown(self, key: str) -> NotFoundError:
        keys = [spec.key for spec in self.list()]
        near = difflib.get_close_matches(key, keys, n=3, cutoff=0.5)
        hint = f"Did you mean {' or '.join(near)}?" if near else f"There are: {', '.join(keys)}."
        return NotFoundError(f"There is no model “{key}”.", hint=hint)

"""Attacks on channels: from observations to beliefs about the secrets, without the truth."""

from unmask.core.lazy import import_lazily

__getattr__, __dir__, __all__ = import_lazily(__name__, __file__)

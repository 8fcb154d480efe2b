"""Published tables of counts: releases, attacks that reconstruct records, and audits."""

from unmask.core.lazy import import_lazily

__getattr__, __dir__, __all__ = import_lazily(__name__, __file__)

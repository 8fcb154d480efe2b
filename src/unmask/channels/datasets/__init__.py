"""Data of channels: crowds and mixes of known structure, grids of places, and check-ins of real users."""

from unmask.core.lazy import import_lazily

__getattr__, __dir__, __all__ = import_lazily(__name__, __file__)

"""Knowledge of an adversary of social graphs: a graph that overlaps the release, and seeds."""

from unmask.core.lazy import import_lazily

__getattr__, __dir__, __all__ = import_lazily(__name__, __file__)

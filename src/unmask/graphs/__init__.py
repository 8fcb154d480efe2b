"""Re-identification of people in a released social graph by an adversary who has another graph of them."""

from unmask.core.lazy import import_lazily

__getattr__, __dir__, __all__ = import_lazily(__name__, __file__)

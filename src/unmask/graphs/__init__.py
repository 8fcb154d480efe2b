"""Social graphs: who can be re-identified from the structure of a released graph, by one who knows another part."""

from unmask.core.lazy import import_lazily

__getattr__, __dir__, __all__ = import_lazily(__name__, __file__)

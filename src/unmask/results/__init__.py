"""Results of audits, studies and games: measures as rows, facts as tables, findings as blocks."""

from unmask.core.lazy import import_lazily

__getattr__, __dir__, __all__ = import_lazily(__name__, __file__)

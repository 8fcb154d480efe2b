"""Pictures of pages: drawn by unmask itself while the site is built, so that none shows what it no longer draws.

    ```{picture} What the picture shows, and how to read it.
    found = unmask.audit(...)
    found.chart("success identity")
    ```

The last line is the chart. The code stands folded below the picture; what it raises is a warning of the build.
"""

import ast
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def drawn(code: str) -> str:
    """The drawing that the last expression of a program is."""
    *before, last = ast.parse(code).body
    assert isinstance(last, ast.Expr)
    names: dict[str, Any] = {}
    exec(compile(ast.Module(before, []), "picture", "exec"), names)
    return str(eval(compile(ast.Expression(last.value), "picture", "eval"), names).svg)


class Picture(SphinxDirective):
    """Runs its content and shows the chart, its caption and, folded, the code."""

    has_content = True
    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """The figure."""
        code = "\n".join(self.content)
        try:
            svg = drawn(code)
        except Exception as error:  # noqa: BLE001  # whatever it is, the page that has it should be named
            return [self.state.document.reporter.warning(f"picture: {error!r}", line=self.lineno)]
        caption, _ = self.state.inline_text(self.arguments[0], self.lineno)
        return [
            nodes.raw("", f'<figure class="picture">{svg}<figcaption>', format="html"),
            *caption,
            nodes.raw("", "</figcaption></figure><details><summary>Code of this picture</summary>", format="html"),
            nodes.literal_block(code, code, language="python"),
            nodes.raw("", "</details>", format="html"),
        ]


def setup(app: Sphinx) -> dict[str, Any]:
    """Gives pages the directive `picture`."""
    app.add_directive("picture", Picture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Directive `picture`: a chart that unmask draws while the site is built, so that it always shows the present state.

    ```{picture} Caption: content of the picture, and how to read it.
    result = unmask.audit(...)
    result.chart("success identity")
    ```

The last line is the chart. The page shows the code folded below the picture. An exception becomes a warning.
"""

import ast
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def draw_chart(code: str) -> str:
    """Run a program whose last expression is a chart, and return the chart as SVG."""
    *statements, last = ast.parse(code).body
    assert isinstance(last, ast.Expr)
    names: dict[str, Any] = {}
    exec(compile(ast.Module(statements, []), "picture", "exec"), names)
    return str(eval(compile(ast.Expression(last.value), "picture", "eval"), names).svg)


class Picture(SphinxDirective):
    """Directive that shows a chart, its caption and its code."""

    has_content = True
    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Return the figure, or a warning with the page and line."""
        code = "\n".join(self.content)
        try:
            svg = draw_chart(code)
        except Exception as error:  # noqa: BLE001  # any error should name the page
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
    """Register the directive."""
    app.add_directive("picture", Picture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Settings of the documentation site, which `sphinx-build -W docs .docs` writes."""

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

project = "unmask"
author = "The unmask authors"
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "docs.python_reference",
    "docs.catalog_pages",
    "docs.papers",
    "docs.site_extras",
    "docs.notebooks",
    "docs.picture_directive",
    "docs.formulas",
]
man_pages = [("reference", "unmask", "attack a data release as an adversary would", author, 1)]
html_theme = "furo"
html_title = "unmask"
html_static_path = ["site.css"]
html_extra_path = ["demo"]  # the report of `unmask demo`, which `docs.site_extras` writes
html_css_files = ["site.css"]
html_copy_source = False
html_show_copyright = False
highlight_language = "text"
myst_heading_anchors = 3
myst_enable_extensions = ["deflist"]
html_math_renderer = "mathml"
exclude_patterns = ["**/.ipynb_checkpoints"]
python_maximum_signature_line_length = 90
autodoc_type_aliases = {"NDArray": "NDArray"}  # else a property says what NDArray stands for
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"

"""A workbook of Excel, as small as the format allows."""

import datetime as dt
import zipfile
from html import escape

_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def write_workbook(path, **sheets):
    """sheets : name -> rows; dates are stored as days since 1899-12-30 with the format of a date."""
    numbers = dict(enumerate(sheets, start=1))
    listed = "".join(f'<sheet name="{name}" sheetId="{index}" r:id="rId{index}"/>' for index, name in numbers.items())
    links = "".join(_link(index, "worksheet", f"worksheets/sheet{index}.xml") for index in numbers)
    formats = '<cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs>'
    with zipfile.ZipFile(path, "w") as book:
        first = _link(1, "officeDocument", "xl/workbook.xml")
        book.writestr("_rels/.rels", f'<Relationships xmlns="{_PACKAGE}">{first}</Relationships>')
        book.writestr("xl/workbook.xml", f'<workbook xmlns="{_SHEET}" xmlns:r="{_OFFICE}"><sheets>{listed}</sheets>'
                      "</workbook>")  # fmt: skip
        book.writestr("xl/_rels/workbook.xml.rels", f'<Relationships xmlns="{_PACKAGE}">{links}'
                      f'{_link(99, "styles", "styles.xml")}</Relationships>')  # fmt: skip
        book.writestr("xl/styles.xml", f'<styleSheet xmlns="{_SHEET}">{formats}</styleSheet>')
        for index, name in numbers.items():
            rows = "".join(_row(number, cells) for number, cells in enumerate(sheets[name], start=1))
            text = f'<worksheet xmlns="{_SHEET}"><sheetData>{rows}</sheetData></worksheet>'
            book.writestr(f"xl/worksheets/sheet{index}.xml", text)


def _link(index, kind, target):
    return f'<Relationship Id="rId{index}" Type="{_OFFICE}/{kind}" Target="{target}"/>'


def _row(number, cells):
    texts = (_cell(f"{chr(65 + index)}{number}", cell) for index, cell in enumerate(cells))
    return f'<row r="{number}">{"".join(texts)}</row>'


def _cell(place, cell):
    if cell is None:
        return ""
    if isinstance(cell, dt.date):
        return f'<c r="{place}" s="1"><v>{(cell - dt.date(1899, 12, 30)).days}</v></c>'
    if isinstance(cell, bool):
        return f'<c r="{place}" t="b"><v>{int(cell)}</v></c>'
    if isinstance(cell, int | float):
        return f'<c r="{place}"><v>{cell}</v></c>'
    return f'<c r="{place}" t="inlineStr"><is><t>{escape(cell)}</t></is></c>'

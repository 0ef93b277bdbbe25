"""Word files and e-books as bytes, written by hand: as small as the formats allow."""

import io
import zipfile

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
STRICT = 'xmlns:w="http://purl.oclc.org/ooxml/wordprocessingml/main"'
MORE = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'


def packed(parts: dict[str, str | bytes]) -> bytes:
    """A ZIP archive with these parts."""
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return raw.getvalue()


def docx(body: str, space: str = W, **others: str) -> bytes:
    """A Word file with this body; others: footnotes, endnotes."""
    parts: dict[str, str | bytes] = {
        "word/document.xml": f"<w:document {space} {MORE}><w:body>{body}</w:body></w:document>"
    }
    parts |= {f"word/{name}.xml": f"<w:{name} {space}>{content}</w:{name}>" for name, content in others.items()}
    return packed(parts)


def paragraph(*runs: str) -> str:
    """A paragraph with a run for each text; what starts with < is taken as it is."""
    inside = "".join(run if run.startswith("<") else f"<w:r><w:t>{run}</w:t></w:r>" for run in runs)
    return f"<w:p><w:pPr><w:tabs><w:tab w:val='left'/></w:tabs></w:pPr>{inside}</w:p>"


def epub(*chapters: str, title: str = "", folder: str = "OEBPS/") -> bytes:
    """An e-book with a page for each body, in the order of its spine and against that of its manifest."""
    numbers = range(len(chapters))
    items = "".join(
        f'<item id="c{i}" href="chapter%20{i}.xhtml" media-type="application/xhtml+xml"/>' for i in reversed(numbers)
    )
    items += '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
    spine = '<itemref idref="nav"/>' + "".join(f'<itemref idref="c{i}"/>' for i in numbers)
    package = (
        f'<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<dc:title>{title}</dc:title></metadata><manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        f'<rootfile full-path="{folder}book.opf"/></rootfiles></container>'
    )
    page = "<!DOCTYPE html><html><head><title>not read</title><style>p {{}}</style></head><body>{}</body></html>"
    pages = {f"{folder}chapter {i}.xhtml": page.format(body) for i, body in enumerate(chapters)}
    nav = {f"{folder}nav.xhtml": page.format("<ol><li>Contents</li></ol>")}
    return packed({"META-INF/container.xml": container, f"{folder}book.opf": package, **nav, **pages})

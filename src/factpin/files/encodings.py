"""Encodings of text files: which are allowed, strict decoding, and a guess where it fails."""

import codecs
import re
from collections.abc import Callable
from pathlib import Path

from factpin.errors import BadFile, BadInput

COMMON = "utf-8, gb18030, big5, utf-16, cp1252, latin-1"
NO_TEXT = {"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"}  # codecs, but of no text files
ORDERS = {"utf-16": ("utf-16-le", "utf-16-be"), "utf-32": ("utf-32-le", "utf-32-be")}  # need a byte order mark
MARKS = {
    "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
    "utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
}
LIKELY = ["utf_8", "gb18030", "big5", "shift_jis", "euc_jp", "euc_kr", "cp1252", "cp1251", "utf_16"]
NO_TEXT_FILES = {  # how files begin that are no text, and what they are
    b"\x1f\x8b": "compressed with gzip: give it the ending .gz",
    b"\xfd7zXZ\0": "compressed with xz: give it the ending .xz",
    b"\x28\xb5\x2f\xfd": "compressed with Zstandard: give it the ending .zst",
    b"PK\x03\x04": "a zip archive: unpack it, or give it the ending of what it is, such as .docx or .epub",
    b"\x7fELF": "a program, not text",
    b"\x89PNG": "an image, not text",
    b"\xff\xd8\xff": "an image, not text",
    b"%PDF-": "a PDF: give it the ending .pdf",
}
CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")  # in no text in an encoding of LIKELY but UTF-16
SAMPLE = 1 << 16  # bytes
ZEROS = 0.2  # share of zero bytes at even or odd places from which on text is likely UTF-16
FEWEST = 2  # zero bytes that show an order
SHORTEST = 8  # bytes that show a language
FEW_WRONG = 2  # for each byte that is no UTF-8, more characters that are: then it is damaged UTF-8
RARE_HAN = 0.05  # Chinese characters for each of Hangul in Korean texts
MOSTLY = 0.9  # share of characters
LONGEST_NAME = 40  # characters of an unknown encoding in a message


def codec_of(encoding: str) -> str:
    """The name of a codec for text; BadInput if there is none of that name."""
    try:
        name = codecs.lookup(encoding).name.replace("_", "-")
        if name not in NO_TEXT:
            b"x".decode(name, "replace")  # LookupError for codecs from bytes to bytes, such as zlib
            return name
    except (LookupError, UnicodeError, ValueError):  # ValueError: a null character in the name
        pass
    shown = encoding if len(encoding) <= LONGEST_NAME else f"{encoding[:LONGEST_NAME]}…"
    raise BadInput(f"There is no text encoding {ascii(shown)}. Common ones: {COMMON}.")


def is_utf8(encoding: str) -> bool:
    """Whether an encoding is UTF-8, by any of its names."""
    return codec_of(encoding) == "utf-8"


def check_mark(encoding: str, raw: bytes, path: Path) -> None:
    """BadFile if the encoding needs a byte order mark and the first bytes of the file are none."""
    codec = codec_of(encoding)
    if codec in MARKS and raw and not raw.startswith(MARKS[codec]):
        little, big = ORDERS[codec]
        likely = big if raw[:SAMPLE:2].count(0) > raw[1:SAMPLE:2].count(0) else little
        if 0 not in raw[:SAMPLE] and (found := likely_encoding(raw)) is not None:
            raise BadFile(f"{path}: not {encoding}: it has no byte order mark, and looks like {found}. "
                          f"Try --encoding {found}.")  # fmt: skip
        raise BadFile(
            f"{path}: has no byte order mark, so {encoding} does not say which byte comes first. Give --encoding "
            f"{little} or {big}; {likely} is more likely here."
        )


def decode(raw: bytes, encoding: str, path: Path) -> str:
    """The text of a whole file in an encoding, without a byte order mark."""
    check_mark(encoding, raw, path)
    try:
        return raw.decode(codec_of(encoding)).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise BadFile(
            f"{path}: not {encoding}: byte {error.start} cannot be decoded. {advice(raw, encoding)}"
        ) from None
    except UnicodeError as error:
        raise BadFile(f"{path}: not {encoding} ({error}). {advice(raw, encoding)}") from None


def advice(raw: bytes, tried: str = "utf-8") -> str:
    """What to do about bytes that are not in the encoding that was tried; names the likely one."""
    if codec_of(tried) == "utf-8" and _is_damaged(raw[: 2 * SAMPLE]):
        return "The rest is UTF-8, so the file is damaged or cut off there: repair it."
    for start, kind in NO_TEXT_FILES.items():
        if raw.startswith(start):
            return f"It is {kind}."
    found = likely_encoding(raw)
    if found is None and CONTROL.search(raw[:SAMPLE]):
        return "It has control characters, so it is no text file."
    if found is None or codec_of(found) == codec_of(tried):
        return "Give its encoding with --encoding, such as --encoding gb18030."
    return f"It looks like {found}: try --encoding {found}."


def _is_damaged(sample: bytes) -> bool:
    """Whether most of the bytes that are not ASCII are characters in UTF-8, which they are in no other encoding."""
    text = sample.decode("utf-8", "replace")
    wrong = text.count("\ufffd")
    return sum(character > "\x7f" for character in text) - wrong > wrong * FEW_WRONG


def likely_encoding(raw: bytes) -> str | None:
    """The encoding that the bytes most likely are in."""
    from charset_normalizer import from_bytes  # noqa: PLC0415  (slow to import, and only for errors)

    sample = raw[:SAMPLE]
    for encoding in ("utf-32", "utf-16"):  # the mark of UTF-32 begins like that of UTF-16
        if sample.startswith(MARKS[encoding]):
            return encoding
    if (order := _order_of(sample)) is not None:
        return order
    if len(raw) > SAMPLE and (end := max(sample.rfind(b"\n"), sample.rfind(b" "))) > 0:
        sample = sample[:end]  # not in the middle of a character
    for match in from_bytes(sample, cp_isolation=LIKELY):
        name = match.encoding.replace("_", "-")
        if _is_plausible(name, str(match)):
            return "cp1252" if "cp1252" in match.could_be_from_charset else name
    return next((order for order in ORDERS["utf-16"] if _is_chinese(raw[:SAMPLE], order)), None)


def _is_plausible(encoding: str, text: str) -> bool:
    """Whether the text has what texts in an encoding have: short Chinese ones are taken for Korean or Japanese."""
    if encoding in ("euc-jp", "shift-jis"):
        return any("\u3040" <= character <= "\u30ff" for character in text)
    if encoding == "euc-kr":
        han = sum("\u4e00" <= character <= "\u9fff" for character in text)
        return han < sum("\uac00" <= character <= "\ud7af" for character in text) * RARE_HAN
    return True


def _is_chinese(sample: bytes, encoding: str) -> bool:
    """Whether nearly all of the sample is Chinese in UTF-16, which bytes in other encodings are by a third at most."""
    text = sample[: len(sample) // 2 * 2].decode(encoding, "replace")
    known = sum(
        "\t" <= c < "\x80" or "\u3000" <= c <= "\u303f" or "\u4e00" <= c <= "\u9fff" or c >= "\uff00" for c in text
    )
    return len(sample) >= SHORTEST and known - text.count("\ufffd") >= MOSTLY * len(text)


def refuse_zeros(raw: bytes, path: Path) -> None:
    """BadFile for bytes that are UTF-8, but of which every other one is zero: UTF-16 of Latin text."""
    if (order := _order_of(raw[:SAMPLE])) is not None:
        raise BadFile(f"{path}: not UTF-8: every other byte is zero. It looks like {order}: try --encoding {order}.")


def _order_of(sample: bytes) -> str | None:
    """UTF-16 in the order that the places of zero bytes show, if there are so many of them."""
    counts = [sample[start::2].count(0) for start in (0, 1)]
    zeros = [number / max(1, len(sample) / 2) for number in counts]
    if max(counts) < FEWEST or max(zeros) < ZEROS or min(zeros) >= ZEROS / 4:
        return None
    order = ORDERS["utf-16"][zeros[0] > zeros[1]]
    text = sample[: len(sample) // 2 * 2].decode(order, "replace")
    return None if CONTROL.search(text.encode()) else order  # programs have zeros too


def incremental_decoder(encoding: str, path: Path) -> Callable[[bytes, bool], str]:
    """A strict function (bytes, last) -> text to decode a stream in pieces; errors name the position."""
    decoder = codecs.getincrementaldecoder("utf-8-sig" if is_utf8(encoding) else codec_of(encoding))()
    done = 0

    def decode_next(raw: bytes, last: bool) -> str:
        nonlocal done
        if not done:
            check_mark(encoding, raw, path)
        try:
            text = decoder.decode(raw, last)
        except UnicodeDecodeError as error:
            at = max(0, done + len(raw) - len(error.object) + error.start)
            raise BadFile(f"{path}: not {encoding}: byte {at} cannot be decoded. {advice(raw, encoding)}") from None
        except UnicodeError as error:
            raise BadFile(f"{path}: not {encoding} ({error}). {advice(raw, encoding)}") from None
        done += len(raw)
        return text

    return decode_next

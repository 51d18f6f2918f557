"""What a learner's text looks like on a page: formulas without a script, no script at all, and bounded work.

These are filters of nbconvert; feedback pages and formgrader use them by nbgrader's configuration.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape
from typing import Any
from urllib.parse import unquote

import bleach
from bleach.css_sanitizer import CSSSanitizer
from jinja2 import pass_context
from latex2mathml.converter import convert
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

__all__ = ["CUT", "clean_html", "markdown2html"]

LONGEST = 20_000  # characters of prose in one cell that are read as Markdown; a longer text is shown as it is
HTML = 400_000  # characters of HTML in one place
CUT = "…（太长，后面没有显示 | too long: the rest is not shown）"
FORMULA = 2_000  # characters of one formula
FORMULAS = 500  # of one cell
OPENINGS = 400  # of formulas written as in LaTeX: the end of each is sought through the whole text


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What a minus may follow and still be a sign: ( [ = , and no operand.
_OPENING = r"<mo[^>]*>(?:&#x00028;|&#x0005B;|&#x0003D;|&#x0002C;)</mo>(?:</mrow>)?"
_MATH_TAGS = _words("""
    math maction menclose merror mfenced mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow ms
    mspace msqrt mstyle msub msubsup msup mtable mtd mtext mtr munder munderover none semantics
""")
_MATH_ATTRIBUTES = _words("""
    accent accentunder columnalign columnlines columnspacing depth display displaystyle fence form height linethickness
    lspace mathbackground mathcolor mathsize mathvariant maxsize minsize movablelimits notation rowlines rowspacing
    rspace scriptlevel separator stretchy symmetric voffset width xmlns
""")
_MATH_TAG = re.compile(r"<(/?)(\w+)((?:\s+\w+=\"[^\"<>&]*\")*)\s*/?>")
_TAGS = _words("""
    a abbr b blockquote br caption code col colgroup dd del details div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr
    i img input ins kbd li mark ol p pre q s samp small span strong sub summary sup table tbody td tfoot th thead tr u
    ul var
""")
_ATTRIBUTES = _words("align alt class colspan height id open rowspan start style title width")
_PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]*", re.IGNORECASE)


def _allow(tag: str, name: str, value: str) -> bool:
    """Whether an attribute may stay: none that runs, none that leads elsewhere than a link does."""
    if tag in _MATH_TAGS:
        return name in _MATH_ATTRIBUTES
    if name == "src":
        return tag == "img" and ("data:" not in value.lower()[:20] or _PICTURE.fullmatch(value) is not None)
    if name == "href":
        return tag == "a" and not value.strip().lower().startswith("data:")
    if tag == "input":  # a box of a list of tasks
        return name in ("type", "disabled", "checked", "class") and value != "image"
    return name in _ATTRIBUTES


_CLEANER = bleach.Cleaner(
    tags=_TAGS | _MATH_TAGS, attributes=_allow, protocols={"http", "https", "mailto", "data"},
    css_sanitizer=CSSSanitizer(), strip_comments=True,
)  # fmt: skip


def clean_html(html: Any) -> str:
    """HTML without anything that runs or loads by itself; what is taken out is shown as text.

    Example:
        >>> clean_html('<b onclick="x()">1</b><script>x()</script>')
        '<b>1</b>&lt;script&gt;x()&lt;/script&gt;'
    """
    text = html.decode("utf-8", "replace") if isinstance(html, bytes) else str(html)
    if len(text) > HTML:
        return f"<pre>{escape(text[:LONGEST])}\n{CUT}</pre>"
    return _CLEANER.clean(text)


class _Renderer(IPythonRenderer):
    """nbconvert's Markdown renderer, with formulas as MathML: browsers draw it without any script."""

    def __init__(self, attachments: dict[str, Any]) -> None:
        super().__init__(escape=False, allow_harmful_protocols=False, attachments=attachments)
        self.has_html = False
        self._formulas = FORMULAS

    def block_html(self, html: str) -> str:
        self.has_html = True
        return super().block_html(html)

    def inline_html(self, html: str) -> str:
        self.has_html = True
        return super().inline_html(html)

    def block_mermaidjs(self, code: str) -> str:
        return f"<pre>{escape(code)}</pre>"

    def image(self, text: str, url: str, title: str | None = None) -> str:
        name = url.removeprefix("attachment:")
        if name != url:
            name = name if name in self.attachments else unquote(name)
            if not self.attachments.get(name):
                return f"<em>（图不在文件里 | the picture is not in the file: {escape(text or name)}）</em>"
            url = f"attachment:{name}"
        return super().image(text, url, title)

    def block_math(self, body: str) -> str:
        return f"<div>{self._formula(body, 'block')}</div>"

    def inline_math(self, body: str) -> str:
        return self._formula(body, "inline")

    def _formula(self, body: str, display: str) -> str:
        self._formulas -= 1
        return _mathml(body, display) if self._formulas >= 0 else f"<code>{escape(body)}</code>"


@lru_cache(maxsize=2048)
def _mathml(body: str, display: str) -> str:
    """A formula as MathML, with the spacing that browsers miss: a minus after a bracket is a sign, erf is a name."""
    as_text = f"<code>{escape(body)}</code>"
    if len(body) > FORMULA:
        return as_text
    try:
        text = convert(body, display=display)
    except Exception:  # a learner's formula that is none
        return as_text
    if not _is_mathml(text):
        return as_text
    text = re.sub(rf"({_OPENING})<mo>&#x02212;</mo>", r'\1<mo form="prefix">&#x02212;</mo>', text)
    text = re.sub(r"<mo>([A-Za-z]{2,})</mo>", r"<mi>\1</mi>", text)
    return text.replace("<mi>&#x003A6;</mi>", '<mi mathvariant="normal">&#x003A6;</mi>')


def _is_mathml(text: str) -> bool:
    """Whether a text is MathML and nothing else; latex2mathml does not escape what stands in a formula.

    Example:
        >>> _is_mathml("<mi>x</mi>"), _is_mathml("<mtext><script></mtext>"), _is_mathml('<mi href="x">y</mi>')
        (True, False, False)
    """

    def take_out(match: re.Match[str]) -> str:
        names = re.findall(r"(\w+)=", re.sub(r'"[^"]*"', "", match[3]))
        return "" if match[2] in _MATH_TAGS and _MATH_ATTRIBUTES.issuperset(names) else "<"

    return "<" not in _MATH_TAG.sub(take_out, text)


@pass_context
def markdown2html(context: Any, source: str) -> str:
    r"""Markdown to HTML for nbconvert, with formulas rendered here and now, and without scripts.

    Example:
        >>> print(markdown2html({}, "若 $x$"))
        <p>若 <math xmlns="http://www.w3.org/1998/Math/MathML" display="inline"><mrow><mi>x</mi></mrow></math></p>
        <BLANKLINE>
    """
    cell = context.get("cell", {})
    attachments = cell.get("attachments", {}) if hasattr(cell, "get") else {}
    return _render(source, attachments) if attachments else _render_plain(source)


@lru_cache(maxsize=1024)  # most prose is the chapter's own, the same for the whole class
def _render_plain(source: str) -> str:
    return _render(source, {})


def _render(source: str, attachments: dict[str, Any]) -> str:
    if len(source) > LONGEST or _is_laborious(source):
        return f"<pre>{escape(source)}</pre>"
    renderer = _Renderer(attachments)
    html = MarkdownWithMath(renderer=renderer).render(source)
    return clean_html(html) if renderer.has_html else html


def _is_laborious(source: str) -> bool:
    return len(re.findall(r"\\\\[(\[]|\\begin\{", source)) > OPENINGS

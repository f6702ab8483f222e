"""Which words in angle brackets are HTML."""

from __future__ import annotations

import re

# A word in angle brackets is text unless HTML has an element of that name: `<SEP>`, `Vec<T>`, `<your name>`.
ELEMENTS = (
    "a abbr acronym address area article aside audio b base bdi bdo big blockquote body br button"
    " canvas caption center cite code col colgroup data datalist dd del details dfn dialog dir div"
    " dl dt em embed fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6"
    " head header hgroup hr html i iframe img input ins kbd label legend li link main map mark"
    " math menu meta meter nav nobr noframes noscript object ol optgroup option output p param"
    " picture pre progress q rb rp rt rtc ruby s samp script search section select slot small"
    " source span strike strong style sub summary sup svg table tbody td template textarea tfoot"
    " th thead time title tr track tt u ul var video wbr"
).replace(" ", "|")
_PATTERN = (
    rf"</?(?:{ELEMENTS})(?:\s[^<>]*|\s*/)?>"
    r"|<[A-Za-z][\w.-]*(?:\s[^<>]*=[^<>]*|\s*/)>|</[A-Za-z][\w.-]*>"  # components: <Tabs items={a}>, <Tab/>
)
TAG = re.compile(_PATTERN, re.IGNORECASE)
TAG_BYTES = re.compile(_PATTERN.encode(), re.IGNORECASE)

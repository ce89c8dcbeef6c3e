"""Templates by strangers, in a process whose memory is bounded: none may ask for more than a conversation needs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

ROOM = (
    1 << 30
)  # bytes that a template may ask for beside what the process has: the sandbox allows 64 million characters
CHILD = """
import json, resource, sys
from engine.errors import TemplateError
from engine.text.template import ChatTemplate

sources = json.load(sys.stdin)
messages = [{"role": "user", "content": "Hello\\tthere, {you} & %s 100\\n" * 20}] * 3
ChatTemplate({"default": "{{ messages }}"}).render(messages)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + int(sys.argv[1]), used + int(sys.argv[1])))
told = {}
for name, source in sources.items():
    try:
        told[name] = len(ChatTemplate({"default": source}).render(messages))
    except TemplateError as error:
        told[name] = "memory" if isinstance(error.__cause__, MemoryError) else str(error)
print(json.dumps(told))
"""
X = "{% set x = 'x' * 900000 %}"  # what may be had; everything below makes more of it
L = "{% set l = [x] * 900 %}"
KEEP = "{% set ns = namespace(l=[]) %}{% for a in range(90000) %}"
HOSTILE = {
    "expandtabs": "{{ ('\\t' * 900000).expandtabs(900000) | length }}",
    "expandtabs of bytes": "{{ ('\\t' * 900000).encode().expandtabs(900000) | length }}",
    "translate": X + "{{ x.translate({120: x}) | length }}",
    "translate by a list": X + "{{ x.translate([x] * 200) | length }}",
    "widths": "{{ ('{:9999}' * 9000).format(*range(9000)) | length }}",
    "one width again and again": "{{ ('{0:9999}' * 90000).format(1) | length }}",
    "a width as a value": "{{ ('{0:{1}}' * 90000).format(1, 900000) | length }}",
    "precisions": "{{ ('{0:.9999f}' * 90000).format(1.0) | length }}",
    "format_map": "{{ ('{a:9999}' * 90000).format_map({'a': 1}) | length }}",
    "fields": X + "{{ ('{0}' * 90000).format(x) | length }}",
    "fields of lists": X + L + "{{ '{0}{0}'.format(l) | length }}",
    "percent": "{{ ('%(a)9999d' * 90000) % {'a': 1} }}",
    "percent of bytes": "{{ (('%(a)9999d' * 90000).encode() % {'a': 1}) | length }}",
    "percent fields": X + "{{ (('%(a)s' * 90000) % {'a': x}) | length }}",
    "the filter format": X + "{{ ('%(a)s' * 90000) | format(a=x) | length }}",
    "bytes times": "{{ ('x' * 900000).encode() * 900000 }}",
    "lists times": "{{ (([0] * 900000) * 60) | length }}",
    "join": X + L + "{{ ''.join(l * 20) | length }}",
    "join as a filter": X + L + "{{ (l * 20) | join | length }}",
    "join of what is made one by one": X + L + "{{ (l * 20) | map('string') | join | length }}",
    "join by attribute": X + "{{ ([{'a': x}] * 20000) | map(attribute='a') | join | length }}",
    "a separator": X + "{{ x.join(['a'] * 90000) | length }}",
    "text of a list": X + L + "{{ [l] * 100 }}",
    "text of lists of lists": X + L + "{{ [[l] * 99, [l] * 99] | string | length }}",
    "text of a list beside text": X + L + "{{ '' ~ ([l] * 100) }}",
    "laughs": "{% set a = ['ha'] * 99 %}{% set b = [a] * 99 %}{% set c = [b] * 99 %}{% set d = [c] * 99 %}{{ d }}",
    "laughs by pprint": "{% set a = ['ha'] * 99 %}{% set b = [a] * 99 %}{% set c = [b] * 99 %}{{ ([c] * 99) | pprint }}",
    "tojson": X + L + "{{ ([l] * 90) | tojson | length }}",
    "tojson that indents": "{{ ([[[[[1] * 900] * 90] * 9]]) | tojson(indent=64) | length }}",
    "tojson by a text": X + "{{ ([1] * 90000) | tojson(indent=x) }}",
    "replace": X + "{{ x.replace('x', x) | length }}",
    "replace nothing": X + "{{ x | replace('', x) | length }}",
    "indent": "{{ ('\\n' * 900000) | indent(900000, true, true) | length }}",
    "indent by a text": X + "{{ ('\\n' * 900000) | indent(x) | length }}",
    "wordwrap": X + "{{ x | wordwrap(1, wrapstring=x) | length }}",
    "urlize": X + "{{ ('http://a.b ' * 90000) | urlize(target=x) | length }}",
    "escape": "{{ ('&' * 60000000) | escape | length }}",
    "xmlattr": X + L + "{{ {'a': l * 20} | xmlattr | length }}",
    "sum": "{{ ([[0] * 90000] * 9000) | sum(start=[]) | length }}",
    "batch": KEEP + "{% for row in [1] | batch(90000, 0) %}{% set ns.l = ns.l + [row] %}{% endfor %}{% endfor %}",
    "slice": KEEP + "{% set ns.l = ns.l + [[1] | slice(900) | list] %}{% endfor %}",
    "slices of a text": X + KEEP + "{% set ns.l = ns.l + [x[1:]] %}{% endfor %}",
    "pieces of a text": X + KEEP + "{% set ns.l = ns.l + [x.partition('y')] %}{% endfor %}",
    "splitting": X + KEEP + "{% set ns.l = ns.l + [x.rsplit('y')] %}{% endfor %}",
    "splitting once": "{{ ('a ' * 30000000).split() | length }}",
    "lists that are written down": KEEP + "{% set ns.l = ns.l + [[" + "0," * 900 + "]] %}{% endfor %}",
    "centered": KEEP + "{% set ns.l = ns.l + ['x'.center(900000), 'x'.ljust(900000), 'x'.zfill(900000)] %}{% endfor %}",
    "a block that grows": "{% set ns = namespace(x='x') %}{% for a in range(90) %}{% set ns.x %}{{ ns.x }}{{ ns.x }}{% endset %}{% endfor %}",
    "a macro that doubles": "{% macro m(x, n) %}{% if n %}{{ m(x ~ x, n - 1) }}{% else %}{{ x }}{% endif %}{% endmacro %}{{ m('x', 60) }}",
    "powers": "{{ (9 ** 64) ** 64 ** 64 }}",
    "a date": X + "{{ strftime_now('%A' * 90000000) }}",
    "a date that is wide": "{{ strftime_now('%900000000Y') }}",
    "raised": X + L + "{{ raise_exception([l] * 100) }}",
}  # fmt: skip
FINE = {
    "format": "{{ '{:>10}|{:.2f}|{{}}'.format('a', 1.5) }}{{ '%5d%%' % 3 }}{{ '%s' | format('a') }}",
    "text": "{{ messages }}{{ messages | tojson(indent=2) }}{{ messages | map(attribute='content') | join(', ') }}",
    "pieces": "{{ messages[0].content.split('\\n')[0][2:] }}{{ messages[1:] | length }}{{ 'a,b'.split(',')[-1] }}",
    "tabs": "{{ 'a\\tb'.expandtabs(4) }}{{ 'abc' | center(9) }}{{ 'x' | indent(2) }}{{ [1, 2] | batch(2) | list }}",
    "date": "{{ strftime_now('%d %B %Y') }}",
    "nothing": "{{ missing }}{{ none }}{{ 1.5 }}{{ true }}",
}


def child(sources: dict[str, str]) -> dict[str, int | str]:
    ended = subprocess.run(
        [sys.executable, "-c", CHILD, str(ROOM)],
        input=json.dumps(sources),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    results: dict[str, int | str] = json.loads(ended.stdout)
    assert results.keys() == sources.keys()
    return results


@pytest.mark.skipif(sys.platform != "linux", reason="the bound is set by what Linux tells of a process's memory")
def test_no_template_asks_for_memory_without_bounds() -> None:
    results = child(HOSTILE)
    wrong = {name: said for name, said in results.items() if not (isinstance(said, str) and "was stopped: it" in said)}
    assert wrong == {}


@pytest.mark.skipif(sys.platform != "linux", reason="the bound is set by what Linux tells of a process's memory")
def test_what_templates_do_goes_on() -> None:
    results = child(FINE)
    assert {name: said for name, said in results.items() if not isinstance(said, int)} == {}

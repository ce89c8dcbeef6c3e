"""What a voice is given of a reply in markdown, however the reply is cut into pieces."""

from __future__ import annotations

import pytest

from app.gui.viewmodels.chat.hands_free import SpokenText

REPLY = """# Cranes

Cranes **dance**. They do so
in spring:

- alone
- in *pairs*, and `often`

| when | how many |
|---|---|
| dawn | 212 |

```python
print("nobody says this")
```
1. Bow
2. Jump

> It costs 2 * 3 euros"""
SAID = (
    "Cranes. Cranes dance. They do so in spring: alone. in pairs, and often. when, how many. dawn, 212. "
    "1: Bow. 2: Jump. It costs 2 * 3 euros"
)


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_marks_become_pauses_and_code_is_not_said(size: int) -> None:
    aloud = SpokenText()
    said = "".join(aloud.push(REPLY[i : i + size]) for i in range(0, len(REPLY), size)) + aloud.finish()
    assert said == SAID


def test_words_leave_before_their_line_has_ended() -> None:
    aloud = SpokenText()
    assert aloud.push("The crane ban") == "The crane "
    assert aloud.push("ks. ") == "banks. "
    assert aloud.push("\n```\ncode that goes on\n") == ""
    assert aloud.finish() == ""

"""What the Reader learns to read: made-up English lines, from the words below, letter chains and number patterns."""

from __future__ import annotations

import random
import string

EXTRA = "‘’“”–—€£°"
CHARACTERS = string.digits + string.ascii_letters + string.punctuation + " " + EXTRA

WORDS = """
the of and to in is that for it was on are as with his they at be this from have or by one had not but what all were when
we there can an your which their said if do will each about how up out them then she many some so these would other into
has more her two like him see time could no make than first been its who now people my made over did down only way find
use may water long little very after words called just where most know get through back much before go good new write our
used me man too any day same right look think also around another came come work three word must because does part even
place well such here take why things help put years different away again off went old number great tell men say small
every found still between name should home big give air line set own under read last never us left end along while might
next sound below saw something thought both few those always looked show large often together asked house world going
want school important until form food keep children feet land side without boy once animals life enough took sometimes
four head above kind began almost live page got earth need far hand high year mother light parts country father let night
following picture being study second eyes soon times story boys since white days ever paper hard near sentence better
best across during today others however sure means knew try told young miles sun ways thing whole hear example heard
several change answer room sea against top turned learn point city play toward five using himself usually money seen
document report invoice total amount balance payment account customer service order delivery address street office
company manager market price quarter budget project review meeting minutes agenda schedule deadline version release
update system server network memory processor engine model software hardware window button folder file image screen
printer keyboard button option setting default error warning message request response token password user profile
security private public license agreement section chapter article table figure appendix reference author editor volume
journal science theory method result analysis measure sample experiment percent average median maximum minimum range
temperature pressure energy power voltage current frequency signal noise filter quality quantity weight height width
length distance speed velocity acceleration force material structure surface medical patient doctor hospital treatment
disease research university college student teacher education library government president minister policy election law
court judge justice police military history century ancient modern culture language music theatre museum painting
travel airport station railway ticket passenger hotel restaurant kitchen recipe sugar butter flour chicken vegetable
garden flower forest mountain river valley island ocean weather winter summer spring autumn morning evening afternoon
January February March April May June July August September October November December Monday Tuesday Wednesday Thursday
Friday Saturday Sunday London Paris Berlin Madrid Vienna Boston Chicago Denver Seattle Toronto Sydney Oxford Cambridge
John Mary James Linda Robert Susan David Karen William Sarah Thomas Emily Charles Anna George Laura Peter Alice Henry
quick brown fox jumps lazy dog zebra quartz jigsaw oxygen vexing puzzle wizard equal liquid unique queue question
knowledge although therefore nevertheless whether either neither perhaps probably certainly especially particularly
available according development international information environment organization management communication performance
""".split()  # noqa: SIM905 - six hundred quoted words would hide the rest

_ENDS = [".", ".", ".", ",", ",", ";", ":", "!", "?", "...", ")"]
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


class LetterChain:
    """Words that do not exist but could: each letter follows the two before it as in WORDS."""

    def __init__(self) -> None:
        self.after: dict[str, list[str]] = {}
        for word in WORDS:
            padded = f"^^{word.lower()}$"
            for i in range(len(padded) - 2):
                self.after.setdefault(padded[i : i + 2], []).append(padded[i + 2])

    def word(self, rng: random.Random) -> str:
        built = "^^"
        while len(built) < 14:
            letter = rng.choice(self.after[built[-2:]])
            if letter == "$":
                break
            built += letter
        return built[2:]


_CHAIN = LetterChain()


def _digits(rng: random.Random, most: int) -> str:
    return "".join(rng.choice(string.digits) for _ in range(rng.randint(1, most)))


def _number(rng: random.Random) -> str:
    d = lambda most: _digits(rng, most)  # noqa: E731 - ten patterns below read better so
    r = rng.randint
    return rng.choice(
        [
            lambda: d(6),
            lambda: f"{r(1, 999):,}.{r(0, 99):02}",
            lambda: f"{r(1000, 9999999):,}",
            lambda: f"{rng.choice('$$€£')}{r(1, 9999):,}.{r(0, 99):02}",
            lambda: f"{r(0, 100)}%",
            lambda: f"{r(0, 99)}.{d(4)}",
            lambda: f"{r(1, 31)}/{r(1, 12)}/{r(1950, 2030)}",
            lambda: f"{r(1950, 2030)}-{r(1, 12):02}-{r(1, 31):02}",
            lambda: f"{rng.choice(_MONTHS)} {r(1, 31)}, {r(1900, 2030)}",
            lambda: f"{r(0, 23)}:{r(0, 59):02}",
            lambda: f"+{r(1, 99)} {r(100, 999)} {r(100, 999)}-{r(1000, 9999)}",
            lambda: f"({r(1, 20)})",
            lambda: f"#{d(5)}",
            lambda: f"-{d(3)}",
            lambda: f"{r(1, 40)}°",
            lambda: f"{r(1, 99)}–{r(100, 999)}",
        ]
    )()


def _code(rng: random.Random) -> str:
    a, b = _CHAIN.word(rng), _CHAIN.word(rng)
    return rng.choice(
        [
            lambda: f"{a}_{b}({_digits(rng, 2)})",
            lambda: f"{a}[{_digits(rng, 2)}] = {b};",
            lambda: f"if {a} >= {_digits(rng, 3)}:",
            lambda: f"{{{a}: '{b}'}}",
            lambda: f'"{a}": {_digits(rng, 3)},',
            lambda: f"<{a}>{b}</{a}>",
            lambda: f"{a}.{b}@{_CHAIN.word(rng)}.{rng.choice(['com', 'org', 'net', 'io'])}",
            lambda: f"https://{a}.{rng.choice(['com', 'org', 'de'])}/{b}",
            lambda: f"/usr/{a}/{b}.{rng.choice(['py', 'txt', 'json'])}",
            lambda: f"--{a}={b}",
            lambda: f"{a}-{b}",
            lambda: f"{a} & {b} | ~{a}",
            lambda: f"`{a}` ^ {b}*{_digits(rng, 1)} + {a}/{_digits(rng, 2)}",
            lambda: f"C:\\{a}\\{b}",
        ]
    )()


def _word(rng: random.Random) -> str:
    word = rng.choice(WORDS) if rng.random() < 0.55 else _CHAIN.word(rng) or "a"
    kind = rng.random()
    if kind < 0.15:
        word = word.capitalize()
    elif kind < 0.24:
        word = word.upper()
    elif kind < 0.27:
        word += rng.choice(["'s", "’s", "n't", "s'"])
    elif kind < 0.30:
        word = f"{word}-{rng.choice(WORDS)}"
    return word


def _scramble(rng: random.Random, alphabet: str) -> str:
    return "".join(rng.choice(alphabet) for _ in range(rng.randint(1, 10)))


_PRINT = CHARACTERS.replace(" ", "")
_QUOTES = [('"', '"'), ("“", "”"), ("'", "'"), ("‘", "’"), ("(", ")"), ("[", "]"), ("{", "}"), ("<", ">")]


def _item(rng: random.Random) -> str:
    kind = rng.random()
    if kind < 0.62:
        item = _word(rng)
    elif kind < 0.74:
        item = _number(rng)
    elif kind < 0.80:
        item = _code(rng)
    elif kind < 0.86:
        item = _scramble(rng, _PRINT)
    elif kind < 0.91:
        item = _scramble(rng, string.ascii_letters + string.digits)
    elif kind < 0.95:
        item = _scramble(rng, string.ascii_uppercase)
    else:
        return rng.choice(["-", "–", "—", "&", "+", "=", "*", "/", "a", "I", "A", "|", ":"])
    if rng.random() < 0.06:
        opening, closing = rng.choice(_QUOTES)
        item = opening + item + closing
    if rng.random() < 0.16:
        item += rng.choice(_ENDS)
    return item


def line(rng: random.Random, length: int) -> str:
    """A line of about `length` characters: never more than a few over, never a space at an end."""
    style = rng.random()
    text = ""
    while len(text) < length:
        item = _item(rng) if style < 0.7 or rng.random() < 0.3 else _word(rng)
        text = f"{text} {item}" if text else item
        if len(text) > length + 4:
            text = text[:length].strip() or text[: length + 1].strip()
            break
    if style > 0.93:
        text = text.upper()
    return " ".join(text.split()) or "a"

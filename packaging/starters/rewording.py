"""How people vary a question without changing what they ask: other words, politeness, keywords, slips of the fingers.

Independent of answers and topics. Everything is in lower case, as the Guide's chat template makes it.
"""

from __future__ import annotations

from random import Random

# Any word of a group may stand for any other of it.
SAME = [
    ["computer", "machine", "laptop", "pc", "notebook", "system"],
    ["picture", "image", "photo"],
    ["pictures", "images", "photos"],
    ["program", "app", "application", "software", "tool"],
    ["conversation", "chat", "dialogue"],
    ["conversations", "chats"],
    ["folder", "directory"],
    ["disk", "drive", "hard disk"],
    ["answer", "reply", "response"],
    ["answers", "replies", "responses"],
    ["question", "query"],
    ["memory", "ram"],
    ["gpu", "graphics card", "video card"],
    ["cpu", "processor"],
    ["internet", "network", "connection"],
    ["quick", "fast", "speedy", "rapid"],
    ["slow", "sluggish"],
    ["start", "launch", "begin"],
    ["stop", "halt", "end"],
    ["delete", "remove", "erase"],
    ["show", "display"],
    ["change", "modify", "alter"],
    ["choose", "pick", "select"],
    ["find", "locate", "discover"],
    ["use", "employ", "work with"],
    ["make", "create", "produce"],
    ["get", "obtain", "fetch"],
    ["big", "large", "huge"],
    ["small", "tiny", "little"],
    ["bigger", "larger"],
    ["smaller", "tinier"],
    ["error", "problem", "issue", "failure"],
    ["allowed", "permitted"],
    ["supported", "possible", "available"],
    ["support", "handle", "work with"],
    ["model", "llm", "language model"],
    ["models", "llms", "language models"],
    ["document", "file", "text"],
    ["documents", "files", "papers"],
    ["several", "multiple", "many"],
    ["command", "instruction"],
    ["speak", "talk"],
    ["explain", "describe", "tell me about"],
    ["needed", "required", "necessary"],
    ["need", "require"],
    ["send", "transmit"],
    ["save", "store", "keep"],
    ["saved", "stored", "kept"],
    ["option", "setting", "parameter"],
    ["setup", "set-up", "installation"],
    ["free", "gratis"],
    ["buy", "purchase"],
    ["help", "assist"],
    ["write", "type"],
    ["grus", "this program", "this", "this app", "it", "the program"],
    ["mac", "macbook", "macos"],
    ["windows", "windows 11"],
    ["gb", "gigabytes", "gigs", "gig"],
    ["another", "a different", "some other"],
    ["other", "different"],
    ["people", "persons", "users"],
    ["good", "decent", "nice"],
    ["best", "optimal", "top"],
    ["api", "interface"],
    ["wrong", "incorrect", "false"],
    ["hugging face", "huggingface", "hf"],
]
BEFORE = """please|hello,|hi,|hey,|hi there,|hey guide,|excuse me,|quick question:|question:|sorry,|sorry to bother you,|so|ok,|ok so|
and|but|well,|um,|hmm,|also|now|one more thing:|good morning,|dear guide,|can you tell me|could you tell me|tell me,|do you know|
i wonder|i was wondering|i'd like to know|i would like to know|may i ask|just asking,|can i ask|actually|just curious,|i have a question:|
hello! i'm new here.|i am a beginner,|help!|please help,|please tell me|pls|plz|first question:|another question:|next:|then|alright,|
i don't know much about computers.|could you explain|i need to know|what i want to know is|my question is|any idea|remind me,|thanks, and|
thank you. now|great, and|perfect.|good day,|say,|listen,|would you know|is it ok to ask|not sure if you know:|hm""".replace(
    "\n", ""
).split("|")
AFTER = """please|pls|plz|thanks|thank you|thx|for me|exactly|actually|then|now|again|today|, please|, thank you|
, thanks in advance|, any idea|asap|if possible|quickly|in short|, can you help|, do you know|by the way|really|in detail|simply|
for a beginner|, i forgot|, i am new|or not|, right|somehow|myself|at all|, guide|, my friend""".replace(
    "\n", ""
).split("|")
_STOP = """a an the is are am was were be been do does did can could would will shall should may might i you me my your it its we our us to of in on
at for from with by and or so that this these those there please how what which who where when why any some have has had get if as about into
need want use just"""
STOP = set(_STOP.split())
MARKS = ["?"] * 10 + [""] * 9 + ["??", "!", "!!", ".", ".", "...", " ?", "?!"]
_BESIDE = {
    "q": "wa", "w": "qes", "e": "wrd", "r": "etf", "t": "ryg", "y": "tuh", "u": "yij", "i": "uok", "o": "ipl", "p": "ol",
    "a": "qsz", "s": "adw", "d": "sfe", "f": "dgr", "g": "fht", "h": "gjy", "j": "hku", "k": "jli", "l": "kop", "z": "xa",
    "x": "zcs", "c": "xvd", "v": "cbf", "b": "vng", "n": "bmh", "m": "nj",
}  # fmt: skip
_SAME_AS = {word: [other for other in group if other != word] for group in SAME for word in group}


def vary(text: str, random: Random, slips: float = 0.3) -> str:
    """The question as somebody else might type it. `slips`: how often it holds at least one typing error."""
    text = _other_words(text, random)
    if random.random() < 0.15:
        text = _keywords(text, random)
    if random.random() < 0.18:
        text = _lose_words(text, random)
    if random.random() < 0.05:
        text = _shuffle_words(text, random)
    if random.random() < 0.2:
        text = f"{random.choice(BEFORE)} {text}"
    if random.random() < 0.12:
        text = f"{text} {random.choice(AFTER)}".replace(" ,", ",")
    while random.random() < slips:
        text = _slip(text, random)
    return punctuate(text, random)


def punctuate(text: str, random: Random) -> str:
    if random.random() < 0.25:
        text = text.replace("'", "")
    if random.random() < 0.2:
        text = text.replace(",", "")
    if text[-1:].isalnum():
        text += random.choice(MARKS)
    return " ".join(text.split())


def _other_words(text: str, random: Random) -> str:
    words = text.split(" ")
    for at, word in enumerate(words):
        if word in _SAME_AS and random.random() < 0.12:
            words[at] = random.choice(_SAME_AS[word])
    return " ".join(words)


def _keywords(text: str, random: Random) -> str:
    kept = [word for word in text.split(" ") if word not in STOP]
    if random.random() < 0.3:
        random.shuffle(kept)
    return " ".join(kept) or text


def _shuffle_words(text: str, random: Random) -> str:
    words = text.split(" ")
    random.shuffle(words)
    return " ".join(words)


def _lose_words(text: str, random: Random) -> str:
    """One word that hardly matters, or of a long question any word."""
    words = text.split(" ")
    weak = [at for at, word in enumerate(words) if word in STOP]
    if len(words) > 5 and random.random() < 0.5:
        del words[random.randrange(len(words))]
    elif len(words) > 2 and weak:
        del words[random.choice(weak)]
    return " ".join(words)


def _slip(text: str, random: Random) -> str:
    """One wrong key: left out, doubled, swapped, beside the right one, or a lost space."""
    letters = [at for at, letter in enumerate(text) if letter in _BESIDE]
    if len(letters) < 5:
        return text
    at = random.choice(letters)
    letter = text[at]
    match random.randrange(6):
        case 0:
            return text[:at] + text[at + 1 :]
        case 1:
            return text[:at] + letter + text[at:]
        case 2 | 3:
            return text[:at] + text[at + 1 : at + 2] + letter + text[at + 2 :]
        case 4:
            return text[:at] + random.choice(_BESIDE[letter]) + text[at + 1 :]
        case _:
            space = text.find(" ", at)
            return text if space < 0 else text[:space] + text[space + 1 :]

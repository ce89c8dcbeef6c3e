"""300 documents of every kind that a library reads, and literal questions about them. Written before the code that searches.

Ten families of documents, thirty of each: the documents of a family have the same sections and nearly the same words, so that a name
and a property together find a passage, and neither alone. In most sections the name is in the title of the document only.
"""

from __future__ import annotations

import calendar
import email.message
import io
import textwrap
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import openpyxl

from engine.pipelines.reading.results import Box, Document, Element, Page
from engine.pipelines.reading.writers import ExportOptions, write_document
from tests.engine.media.test_documents import text_pdf

Section = tuple[str, str]  # a heading and its paragraph

NAMES = (
    "Velkor", "Amberlin", "Tessard", "Quillon", "Brasmo", "Nordhal", "Ikaros", "Fennig", "Maribel", "Zuckow",
    "Harrowby", "Lindqvist", "Olivetta", "Pemberton", "Rosgard", "Sundby", "Talvera", "Umbrick", "Westerlo", "Yarrow",
    "Castellan", "Dunmore", "Eskdale", "Gorlitz", "Jasmund", "Kestrel", "Montrose", "Penhallow", "Ravenna", "Stavanger",
)  # fmt: skip
FILLER = (
    "The commission met in the old town hall and heard several reports on the state of the work.",
    "Further particulars are kept in the archive and may be asked for in writing at any time.",
    "Weather, staffing and the price of materials were discussed at length without a decision.",
    "Nothing in this part replaces the agreements that were made with the partners in earlier years.",
    "A copy of these pages is sent to everybody who took part, and to the office of the region.",
    "The figures were checked twice, once by hand and once by the new system of the accountants.",
)
MONTHS = list(calendar.month_name)[1:]


@dataclass(frozen=True)
class Question:
    """What is asked, the file that answers it, and words that only the right passage has."""

    text: str
    file: str
    answer: str


def _filler(at: int, sentences: int = 3) -> str:
    return " ".join(FILLER[(at + step) % len(FILLER)] for step in range(sentences))


# -- the families: title and sections of number `n`


def pump(n: int) -> tuple[str, list[Section]]:
    return f"{NAMES[n]} pump, operating manual", [
        ("Overview", f"This manual describes the installation and the operation of the machine. {_filler(n)}"),
        ("Lubrication", f"The gearbox holds {2 + n * 0.3:.1f} litres of oil. Change the oil every {300 + 10 * n} hours of operation. {_filler(n + 1)}"),
        ("Electrical connection", f"Connect the motor to {200 + n} volts. The fuse is rated at {10 + n} amperes. {_filler(n + 2)}"),
        ("Warranty", f"The manufacturer grants a warranty of {12 + n} months from the day of delivery. {_filler(n + 3)}"),
        ("Faults", f"When the red lamp blinks {2 + n} times, the inlet is blocked: clean the strainer with warm water. {_filler(n + 4)}"),
    ]  # fmt: skip


def lake(n: int) -> tuple[str, list[Section]]:
    return f"Survey of Lake {NAMES[n]}", [
        ("Situation", f"The lake lies {100 + 7 * n} metres above the sea between two ridges of the last ice age. {_filler(n)}"),
        ("Depth", f"The greatest depth is {20 + 3 * n} metres, measured from a boat with a weighted line. {_filler(n + 2)}"),
        ("Fish", f"Pike and perch are common. A pike of {90 + n} centimetres was caught by the survey team. {_filler(n + 3)}"),
        ("Water birds", f"{140 + 11 * n} breeding pairs of the great crested grebe were counted in the reeds. {_filler(n + 4)}"),
    ]  # fmt: skip


def minutes(n: int) -> tuple[str, list[Section]]:
    return f"Minutes of the {NAMES[n]} board meeting", [
        ("Present", f"The chair was taken by {NAMES[(n + 3) % 30]} Okafor. Apologies were received from the treasurer. {_filler(n)}"),
        ("Budget", f"The board approved a budget of {40_000 + 1_250 * n} crowns for the coming year. {_filler(n + 1)}"),
        ("New building", f"The roof of the boathouse will be tiled by the firm {NAMES[(n + 7) % 30]} and Sons. {_filler(n + 2)}"),
        ("Next meeting", f"The next meeting takes place on {1 + n % 28} {MONTHS[n % 12]} in the reading room. {_filler(n + 5)}"),
    ]  # fmt: skip


def recipe(n: int) -> tuple[str, list[Section]]:
    return f"{NAMES[n]} cake", [
        ("Ingredients", f"Take {200 + 5 * n} grams of flour, {2 + n % 5} eggs, and the zest of a lemon. {_filler(n)}"),
        ("Baking", f"Bake the cake for {30 + n} minutes at {160 + n} degrees until a needle comes out clean. {_filler(n + 2)}"),
        ("Keeping", f"Wrapped in a cloth it keeps for {3 + n} days in a cool pantry. {_filler(n + 4)}"),
    ]  # fmt: skip


def policy(n: int) -> tuple[str, list[Section]]:
    return f"Travel policy of {NAMES[n]} Limited", [
        ("Scope", f"These rules apply to all employees and to contractors on long assignments. {_filler(n)}"),
        ("Hotels", f"A hotel room may cost up to {90 + 4 * n} euros a night, breakfast included. {_filler(n + 1)}"),
        ("Meals", f"The daily allowance for meals is {25 + n} euros in the home country. {_filler(n + 2)}"),
        ("Mileage", f"A private car is reimbursed with {30 + n} cents a kilometre. {_filler(n + 3)}"),
        ("Approval", f"Flights of more than {4 + n} hours are approved by the head of the department. {_filler(n + 4)}"),
    ]  # fmt: skip


def experiment(n: int) -> tuple[str, list[Section]]:
    return f"Laboratory report on {NAMES[n]} resin", [
        ("Method", f"Samples were cured for {5 + n} hours under nitrogen and cut with a diamond saw. {_filler(n)}"),
        ("Results", f"The tensile strength reached {50 + 2 * n} megapascals; the glass transition lies at {101 + n} degrees Celsius. {_filler(n + 1)}"),
        ("Safety", f"The hardener irritates the skin; wear gloves of nitrile. The flash point is {61 + n} degrees. {_filler(n + 3)}"),
    ]  # fmt: skip


def biography(n: int) -> tuple[str, list[Section]]:
    return f"Life of Agnes {NAMES[n]}", [
        ("Childhood", f"She was born in {1801 + 3 * n} as the daughter of a clockmaker and a midwife. {_filler(n)}"),
        ("Studies", f"At the age of {17 + n % 9} she went to {NAMES[(n + 11) % 30]} to study botany. {_filler(n + 2)}"),
        ("Travels", f"On her longest journey she collected {1_100 + 37 * n} species of moss. {_filler(n + 4)}"),
        ("Last years", f"She died of a fever in {1860 + 3 * n} and left her herbarium to the city. {_filler(n + 5)}"),
    ]  # fmt: skip


def gutachten(n: int) -> tuple[str, list[Section]]:
    return f"Gutachten über die Brücke {NAMES[n]}", [
        ("Anlass", "Die Stadtverwaltung hat eine Prüfung des Tragwerks in Auftrag gegeben, weil Risse gemeldet wurden."),
        ("Tragfähigkeit", f"Die zulässige Belastung der Brücke beträgt {12 + n} Tonnen. Schwerere Fahrzeuge sind umzuleiten."),
        ("Geländer", f"Das Geländer ist {90 + n} Zentimeter hoch und an der Südseite stark verrostet."),
        ("Kosten", f"Die Sanierung wird voraussichtlich {310_000 + 4_500 * n} Euro kosten und zwei Jahre dauern."),
    ]  # fmt: skip


def letter(n: int) -> tuple[str, list[Section]]:
    return f"Your order {7_000 + 13 * n} from {NAMES[n]} Nurseries", [
        ("", f"Dear customer, your {20 + n} apple trees leave our nursery on {1 + n % 27} {MONTHS[(n + 5) % 12]}. {_filler(n, 2)}"),
        ("", f"The carrier will ask for a deposit of {45 + n} dollars for the wooden crates. {_filler(n + 1, 2)}"),
        ("", f"If a tree fails in the first year, call {NAMES[(n + 2) % 30]} in our office and we replace it. {_filler(n + 2, 2)}"),
    ]  # fmt: skip


def prices(n: int) -> tuple[str, list[list[str]]]:
    rows = [["Article", "Unit", "Price"]]
    for at, thing in enumerate(("Rope", "Lantern", "Compass", "Tarpaulin", "Anchor")):
        rows.append([thing, ("metre", "piece", "piece", "square metre", "piece")[at], f"{3 + 5 * at + n * 0.25:.2f}"])
    return f"Price list of {NAMES[n]} Chandlers", rows


# -- questions: what is asked of number n, the heading-free words of the answer


def questions() -> list[Question]:
    asked: list[Question] = []

    def add(family: str, numbers: Sequence[int], ask: Callable[[int], str], answer: Callable[[int], str]) -> None:
        asked.extend(Question(ask(n), file_name(family, n), answer(n)) for n in numbers)

    add(
        "pump",
        (3, 17),
        lambda n: f"How many litres of oil does the gearbox of the {NAMES[n]} pump hold?",
        lambda n: f"holds {2 + n * 0.3:.1f} litres",
    )
    add(
        "pump",
        (8, 25),
        lambda n: f"What voltage does the motor of the {NAMES[n]} pump need, how many volts?",
        lambda n: f"to {200 + n} volts",
    )
    add(
        "pump",
        (0, 21),
        lambda n: f"How long is the warranty of the {NAMES[n]} pump?",
        lambda n: f"warranty of {12 + n} months",
    )
    add(
        "pump",
        (11, 28),
        lambda n: f"What does it mean when the red lamp of the {NAMES[n]} pump blinks?",
        lambda n: f"blinks {2 + n} times",
    )
    add(
        "lake",
        (1, 14),
        lambda n: f"What is the greatest depth of Lake {NAMES[n]}?",
        lambda n: f"depth is {20 + 3 * n} metres",
    )
    add(
        "lake",
        (6, 22),
        lambda n: f"How many pairs of grebes breed on Lake {NAMES[n]}?",
        lambda n: f"{140 + 11 * n} breeding pairs",
    )
    add(
        "lake",
        (9, 29),
        lambda n: f"How long was the pike that was caught in Lake {NAMES[n]}?",
        lambda n: f"pike of {90 + n} centimetres",
    )
    add(
        "minutes",
        (2, 19),
        lambda n: f"Which budget did the {NAMES[n]} board approve?",
        lambda n: f"budget of {40_000 + 1_250 * n} crowns",
    )
    add(
        "minutes",
        (7, 24),
        lambda n: f"When is the next meeting of the {NAMES[n]} board?",
        lambda n: f"takes place on {1 + n % 28} {MONTHS[n % 12]}",
    )
    add(
        "minutes",
        (10, 27),
        lambda n: f"Who tiles the roof of the boathouse according to the minutes of {NAMES[n]}?",
        lambda n: f"firm {NAMES[(n + 7) % 30]} and Sons",
    )
    add(
        "recipe",
        (4, 16),
        lambda n: f"How much flour goes into the {NAMES[n]} cake?",
        lambda n: f"{200 + 5 * n} grams of flour",
    )
    add(
        "recipe",
        (12, 23),
        lambda n: f"At how many degrees is the {NAMES[n]} cake baked?",
        lambda n: f"minutes at {160 + n} degrees",
    )
    add("recipe", (5, 20), lambda n: f"How many days does {NAMES[n]} cake keep?", lambda n: f"keeps for {3 + n} days")
    add(
        "policy",
        (0, 13),
        lambda n: f"What may a hotel cost under the travel policy of {NAMES[n]} Limited?",
        lambda n: f"up to {90 + 4 * n} euros",
    )
    add(
        "policy",
        (18, 26),
        lambda n: f"How many cents per kilometre does {NAMES[n]} Limited pay for a private car?",
        lambda n: f"with {30 + n} cents",
    )
    add(
        "policy",
        (3, 9),
        lambda n: f"What is the daily meal allowance at {NAMES[n]} Limited?",
        lambda n: f"meals is {25 + n} euros",
    )
    add(
        "experiment",
        (6, 15),
        lambda n: f"What tensile strength did {NAMES[n]} resin reach?",
        lambda n: f"reached {50 + 2 * n} megapascals",
    )
    add(
        "experiment",
        (2, 29),
        lambda n: f"What is the flash point of {NAMES[n]} resin?",
        lambda n: f"flash point is {61 + n} degrees",
    )
    add(
        "experiment",
        (11, 21),
        lambda n: f"How many hours were the samples of {NAMES[n]} resin cured?",
        lambda n: f"cured for {5 + n} hours",
    )
    add(
        "biography", (5, 24), lambda n: f"In which year was Agnes {NAMES[n]} born?", lambda n: f"born in {1801 + 3 * n}"
    )
    add(
        "biography",
        (8, 28),
        lambda n: f"How many species of moss did Agnes {NAMES[n]} collect?",
        lambda n: f"collected {1_100 + 37 * n} species",
    )
    add(
        "biography",
        (1, 17),
        lambda n: f"Of what did Agnes {NAMES[n]} die, and when?",
        lambda n: f"fever in {1860 + 3 * n}",
    )
    add(
        "gutachten",
        (4, 19),
        lambda n: f"Wie hoch ist die zulässige Belastung der Brücke {NAMES[n]}?",
        lambda n: f"beträgt {12 + n} Tonnen",
    )
    add(
        "gutachten",
        (13, 26),
        lambda n: f"Was kostet die Sanierung der Brücke {NAMES[n]}?",
        lambda n: f"voraussichtlich {310_000 + 4_500 * n} Euro",
    )
    add(
        "gutachten",
        (7, 22),
        lambda n: f"Wie viele Zentimeter hoch ist das Geländer an der Bruecke {NAMES[n]}?",
        lambda n: f"ist {90 + n} Zentimeter",
    )
    add(
        "letter",
        (10, 25),
        lambda n: f"When do the apple trees from {NAMES[n]} Nurseries leave?",
        lambda n: f"nursery on {1 + n % 27} {MONTHS[(n + 5) % 12]}",
    )
    add(
        "letter",
        (12, 20),
        lambda n: f"What deposit do the crates of order {7_000 + 13 * n} need?",
        lambda n: f"deposit of {45 + n} dollars",
    )
    add(
        "letter",
        (0, 16),
        lambda n: f"Whom do I call at {NAMES[n]} Nurseries when a tree fails?",
        lambda n: f"call {NAMES[(n + 2) % 30]} in our office",
    )
    add(
        "prices",
        (14, 27),
        lambda n: f"What is the price of a compass at {NAMES[n]} Chandlers?",
        lambda n: f"{13 + n * 0.25:.2f}",
    )
    add(
        "prices",
        (18, 23),
        lambda n: f"How much is a lantern in the price list of {NAMES[n]} Chandlers?",
        lambda n: f"{8 + n * 0.25:.2f}",
    )
    return asked  # fmt: skip


# -- the files

_ENDINGS = {
    "pump": ("pdf", "docx"), "lake": ("md", "html"), "minutes": ("docx", "odt"), "recipe": ("txt", "md"),
    "policy": ("html", "pdf"), "experiment": ("odt", "pdf"), "biography": ("epub",), "gutachten": ("docx", "txt"),
    "letter": ("eml",), "prices": ("xlsx", "csv"),
}  # fmt: skip
_FAMILIES = {
    "pump": pump, "lake": lake, "minutes": minutes, "recipe": recipe, "policy": policy, "experiment": experiment,
    "biography": biography, "gutachten": gutachten, "letter": letter,
}  # fmt: skip


def file_name(family: str, n: int) -> str:
    endings = _ENDINGS[family]
    return f"{family}/{n:03}.{endings[n % len(endings)]}"


def make_corpus(folder: Path) -> list[Path]:
    """300 files in folders by family. Their names say nothing of their content."""
    made = []
    for family in _ENDINGS:
        (folder / family).mkdir(parents=True)
        for n in range(30):
            file = folder / file_name(family, n)
            if family == "prices":
                write_table(file, *prices(n))
            else:
                title, sections = _FAMILIES[family](n)
                WRITERS[file.suffix](file, title, sections)
            made.append(file)
    return made


def write_table(file: Path, title: str, rows: list[list[str]]) -> None:
    if file.suffix == ".csv":
        file.write_text("\n".join(",".join(row) for row in [[title], *rows]), encoding="utf-8")
        return
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = title[:31]
    for row in [[title], *rows]:
        sheet.append(row)
    book.save(file)


def _pdf(file: Path, title: str, sections: Sequence[Section]) -> None:
    """A title page, and one page a section."""
    lines = [[title], *([heading, *textwrap.wrap(text, 45)] for heading, text in sections)]
    file.write_bytes(text_pdf(*(") Tj 0 -30 Td (".join(page) for page in lines)))


def _docx(file: Path, title: str, sections: Sequence[Section]) -> None:
    nowhere = Box(0, 0, 0, 0)
    elements = [Element("heading", nowhere, 0, title, level=1)]
    for heading, text in sections:
        elements.append(Element("heading", nowhere, len(elements), heading, level=2))
        elements.append(Element("text", nowhere, len(elements), text))
    document = Document(file.name, (Page(1, 0, 0, tuple(elements)),))
    file.write_bytes(write_document(document, "docx", ExportOptions(), lambda page: None)[0])  # type: ignore[arg-type, return-value]


def _html_of(title: str, sections: Sequence[Section]) -> str:
    inner = "".join(f"<h2>{heading}</h2><p>{text}</p>" for heading, text in sections)
    return f"<!doctype html><html><head><title>{title}</title></head><body><h1>{title}</h1>{inner}</body></html>"


def _html(file: Path, title: str, sections: Sequence[Section]) -> None:
    file.write_text(_html_of(title, sections), encoding="utf-8")


def _markdown(file: Path, title: str, sections: Sequence[Section]) -> None:
    file.write_text(f"# {title}\n\n" + "\n\n".join(f"## {h}\n\n{t}" for h, t in sections), encoding="utf-8")


def _text(file: Path, title: str, sections: Sequence[Section]) -> None:
    parts = [f"{title}\n{'=' * len(title)}", *(f"{h}\n{'-' * max(3, len(h))}\n\n{t}" for h, t in sections)]
    file.write_text("\n\n".join(parts), encoding="utf-8")


def _odt(file: Path, title: str, sections: Sequence[Section]) -> None:
    inner = f'<t:h t:outline-level="1">{title}</t:h>'
    inner += "".join(f'<t:h t:outline-level="2">{heading}</t:h><t:p>{text}</t:p>' for heading, text in sections)
    content = f'<o:c xmlns:o="o" xmlns:t="t"><o:body><o:text>{inner}</o:text></o:body></o:c>'
    write_package(file, {"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content})


def _epub(file: Path, title: str, sections: Sequence[Section]) -> None:
    chapters = {f"c{at}.html": _html_of(title, [section]) for at, section in enumerate(sections)}
    items = "".join(f'<item id="{name}" href="{name}"/><itemref idref="{name}"/>' for name in chapters)
    write_package(
        file,
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<c><rootfile full-path="b.opf"/></c>',
            "b.opf": f"<p>{items}</p>",
            **chapters,
        },
    )


def _eml(file: Path, title: str, sections: Sequence[Section]) -> None:
    message = email.message.EmailMessage()
    message["From"], message["To"], message["Subject"] = "office@example.org", "you@example.org", title
    message.set_content("\n\n".join(text for _, text in sections))
    file.write_bytes(bytes(message))


def write_package(file: Path, parts: dict[str, str]) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    file.write_bytes(out.getvalue())


WRITERS: dict[str, Callable[[Path, str, Sequence[Section]], None]] = {
    ".pdf": _pdf, ".docx": _docx, ".html": _html, ".md": _markdown, ".txt": _text, ".odt": _odt, ".epub": _epub,
    ".eml": _eml,
}  # fmt: skip

"""Twenty texts, twenty tables and ten talks with what must be found in them in order: other programs make documents of them."""

from __future__ import annotations

import csv
from pathlib import Path

LANGUAGES = (
    ("English", "The crane stands in the marsh", "It waits for the first light"),
    ("German", "Der Kranich steht im Müritzer Moor", "Er wartet auf größeres Licht"),
    ("French", "La grue cendrée s’élève à l’aube", "Où dort-elle, cette nuit-là ?"),
    ("Polish", "Żuraw stoi na łące pod Łodzią", "Gęś, źrebię i ćma"),
    ("Czech", "Jeřáb stojí v mokřadu", "Příliš žluťoučký kůň"),
    ("Greek", "Ο γερανός στέκεται στο έλος", "Περιμένει το πρώτο φως"),
    ("Russian", "Журавль стоит на болоте", "Он ждёт первого света"),
    ("Turkish", "Turna sazlıkta bekliyor", "İlk ışık yaklaşıyor"),
    ("Hebrew", "העגור עומד בביצה", "הוא מחכה לאור ראשון"),
    ("Arabic", "يقف الكركي في المستنقع", "ينتظر الضوء الأول"),
    ("Hindi", "सारस दलदल में खड़ा है", "वह पहली रोशनी की प्रतीक्षा करता है"),
    ("Japanese", "鶴は湿原に立っている", "最初の光を待つ"),
    ("Chinese", "鹤站在沼泽里", "它等待第一缕阳光"),
    ("Korean", "두루미가 늪에 서 있다", "첫 빛을 기다린다"),
    ("Vietnamese", "Con sếu đứng trong đầm lầy", "Nó chờ ánh sáng đầu tiên"),
    ("Thai", "นกกระเรียนยืนอยู่ในหนองน้ำ", "มันรอแสงแรก"),
    ("Signs", "x < y & z > 2 — “quoted” … 50 € © ½", "Emoji 🦢 and 𝛼 beyond the first plane"),
    ("Long", "A long report of many sections", "The end of the beginning"),
    ("Lists", "Lists in lists", "After all the lists"),
    ("Tables", "Tables after tables", "After all the tables"),
)
LAKES = ("Müritz", "Plau", "Schaalsee", "Bodden")


def texts(folder: Path) -> dict[str, list[str]]:
    """Markdown files; by name: what must be found, in order."""
    found = {}
    for number, (name, first, second) in enumerate(LANGUAGES):
        parts, phrases = _text(number, name, first, second)
        (folder / f"{name.lower()}.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
        found[name.lower()] = phrases
    return found


def _text(number: int, name: str, first: str, second: str) -> tuple[list[str], list[str]]:
    parts, phrases = [f"# {name} one", _escaped(first) + "."], [f"{name} one", first]
    for at in range(30 if name == "Long" else 1 + number % 3):
        parts += [
            f"## {name} part {at + 1}",
            f"Paragraph {at + 1} says: *{_escaped(second)}* and **more** [here](https://example.org/{at}).",
        ]
        phrases += [f"{name} part {at + 1}", f"Paragraph {at + 1} says: {second} and more here"]
        if at % 3 == 0:
            parts.append(f"1. first of {at}\n2. second of {at}\n    - inner of {at}\n3. third of {at}")
            phrases += [f"first of {at}", f"second of {at}", f"inner of {at}", f"third of {at}"]
        if at % 3 == 1 or name == "Tables":
            rows = [f"| {lake} | {at * 100 + row} |" for row, lake in enumerate(LAKES)]
            parts.append("\n".join(["| Lake | Cranes |", "|---|---:|", *rows]))
            phrases += ["Cranes", *(word for row, lake in enumerate(LAKES) for word in (lake, str(at * 100 + row)))]
    if number % 2:
        parts += [f"A sentence with a note.[^{number}]", f"[^{number}]: The note of {name}."]
        phrases += ["A sentence with a note."]
    if number % 4 == 2:
        parts += ["> A quotation of a keeper.", "~~~\ncrane = 7  # code\n~~~"]
        phrases += ["A quotation of a keeper.", "crane = 7  # code"]
    return [*parts, f"The last words of {name}."], [*phrases, f"The last words of {name}."]


def _escaped(text: str) -> str:
    return text.replace("<", "\\<").replace("&", "\\&").replace(">", "\\>")


def tables(folder: Path) -> dict[str, list[list[str]]]:
    """CSV files; by name: the cells."""
    found = {}
    for number, (name, first, second) in enumerate(LANGUAGES):
        rows = [["Number", "Text", "Share", "Day"]]
        rows += [
            [str(at * 7 - 3), first if at % 2 else second, f"{at}.25", f"2024-02-{at % 28 + 1:02}"]
            for at in range(3 + number * 2)
        ]
        if number % 3 == 0:
            rows[2][1] = ""
            rows.insert(2, ["7", "a line\nand another, with a comma", "0.5", "2023-12-31"])
        with (folder / f"{name.lower()}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(rows)
        found[name.lower()] = rows
    return found


def talks(folder: Path) -> dict[str, list[str]]:
    """Markdown files of which slides are made; by name: what must be found, in order."""
    found = {}
    for number, (name, first, second) in enumerate(LANGUAGES):
        parts, phrases = [], []
        for at in range(2 + number % 4):
            parts += [f"## {name} slide {at + 1}", f"- {_escaped(first)}\n- point {at}\n    - below {at}", ""]
            phrases += [f"{name} slide {at + 1}", first, f"point {at}", f"below {at}"]
            if at % 2:
                parts += [
                    f"## {name} table {at}",
                    "| Lake | Cranes |\n|---|---:|\n" + "\n".join(f"| {lake} | {at} |" for lake in LAKES),
                ]
                phrases += [f"{name} table {at}", "Cranes", *LAKES]
            parts += [f"## {name} words {at}", _escaped(second) + ".", f"::: notes\nSay this of {at}.\n:::"]
            phrases += [f"{name} words {at}", second, f"Say this of {at}."]
        (folder / f"{name.lower()}.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
        found[name.lower()] = phrases
    return found

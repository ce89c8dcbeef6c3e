"""Twenty messages composed by programs of Debian: each is asked to hand its mail to a file instead of a server."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.engine.pipelines.reading.written_texts import LANGUAGES

SENDER, READER = "keeper@example.org", "reader@example.org"


@dataclass(frozen=True)
class Letter:
    """What a program is given to send."""

    subject: str
    paragraphs: tuple[str, ...]
    enclosed: Path | None  # a file that goes with it

    @property
    def body(self) -> str:
        return "\n\n".join(self.paragraphs) + "\n"

    @property
    def phrases(self) -> list[str]:
        """What must be found of it, in this order."""
        return [self.subject, *self.paragraphs, *([] if self.enclosed is None else [self.enclosed.name])]


def letters(folder: Path) -> dict[str, Letter]:
    """One in each language, by its name; every third has an enclosure."""
    made = {}
    for number, (name, first, second) in enumerate(LANGUAGES):
        long = " ".join([second] * 12)  # longer than a line may be: it is folded or encoded
        paragraphs = (f"{first}.", long, f"From {name}: the last words.")  # a line that mailboxes escape
        enclosed = folder / f"{name.lower()}-list.csv" if number % 3 == 0 else None
        if enclosed is not None:
            enclosed.write_text("lake,cranes\nPlau,77\n", encoding="utf-8")
        made[name.lower()] = Letter(f"{name}: {first}", paragraphs, enclosed)
    return made


Compose = Callable[[Letter, Path, Path], None]  # the letter, a folder to work in, and the file that it becomes


def _run(line: list[str], folder: Path, given: str = "", to: Path | None = None) -> None:
    surroundings = {**os.environ, "HOME": str(folder), "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "EMAIL": SENDER}
    made = subprocess.run(line, input=given.encode(), capture_output=True, check=True, timeout=60, env=surroundings)
    if to is not None:
        to.write_bytes(made.stdout)


def _catcher(folder: Path, target: Path) -> Path:
    """A program that stands in for sendmail, and keeps what it is given."""
    script = folder / "sendmail"
    script.write_text(f"#!/bin/sh\ncat > '{target}'\n")
    script.chmod(0o755)
    return script


def mutt(letter: Letter, folder: Path, target: Path) -> None:
    settings = [f'set sendmail="{_catcher(folder, target)}"', f"set from={SENDER}", "set copy=no", "set charset=utf-8"]
    line = ["mutt", "-n", "-F", "/dev/null", *(part for one in settings for part in ("-e", one)), "-s", letter.subject]
    enclosed = [] if letter.enclosed is None else ["-a", str(letter.enclosed)]
    _run([*line, *enclosed, "--", READER], folder, letter.body)


def s_nail(letter: Letter, folder: Path, target: Path) -> None:
    settings = [f"mta={_catcher(folder, target)}", f"from={SENDER}", "ttycharset=utf-8", "sendcharsets=utf-8"]
    line = ["s-nail", "-:/", *(part for one in settings for part in ("-S", one)), "-s", letter.subject]
    enclosed = [] if letter.enclosed is None else ["-a", str(letter.enclosed)]
    _run([*line, *enclosed, READER], folder, letter.body)


def mailutils(letter: Letter, folder: Path, target: Path) -> None:
    line = ["mail.mailutils", "--norc", "-E", f"set sendmail=sendmail:{_catcher(folder, target)}", "-s", letter.subject]
    head = ["--append=MIME-Version: 1.0", "--append=Content-Type: text/plain; charset=utf-8"]
    enclosed = head if letter.enclosed is None else ["-A", str(letter.enclosed)]
    _run([*line, *enclosed, READER], folder, letter.body)


def swaks(letter: Letter, folder: Path, target: Path) -> None:
    enclosed = [] if letter.enclosed is None else ["--attach", f"@{letter.enclosed}"]
    heads = ["--header", f"Subject: {letter.subject}", "--add-header", "MIME-Version: 1.0"]
    if letter.enclosed is None:
        heads += ["--add-header", "Content-Type: text/plain; charset=utf-8"]
    else:
        enclosed = ["--attach-body", letter.body, *enclosed]
    line = ["swaks", "--dump-mail", "--from", SENDER, "--to", READER, *heads, "--body", letter.body, *enclosed]
    _run(line, folder, to=target)


def mime_construct(letter: Letter, folder: Path, target: Path) -> None:
    words = folder / "words.txt"
    words.write_text(letter.body, encoding="utf-8")
    line = ["mime-construct", "--output", "--to", READER, "--header", f"From: {SENDER}", "--subject", letter.subject]
    line += ["--type", "text/plain; charset=utf-8", "--encoding", "quoted-printable", "--file", str(words)]
    if letter.enclosed is not None:
        line += ["--attachment", letter.enclosed.name, "--file", str(letter.enclosed)]
    _run(line, folder, to=target)


def mmime(letter: Letter, folder: Path, target: Path) -> None:
    head = f"From: {SENDER}\nTo: {READER}\nSubject: {letter.subject}\n\n{letter.body}"
    enclosed = "" if letter.enclosed is None else f"#application/octet-stream#base64 {letter.enclosed}\n"
    _run(["mmime"], folder, head + enclosed, to=target)


def ruby(letter: Letter, folder: Path, target: Path) -> None:
    program = (
        "require 'mail'; s, f, t, e = ARGV; b = STDIN.read.force_encoding('UTF-8');"
        "m = Mail.new(charset: 'UTF-8') { from f; to t; subject s; body b };"
        "m.add_file(e) if e; m.charset = 'UTF-8'; print m.to_s"
    )
    enclosed = [] if letter.enclosed is None else [str(letter.enclosed)]
    _run(
        ["ruby", "-EUTF-8:UTF-8", "-e", program, letter.subject, SENDER, READER, *enclosed], folder, letter.body, target
    )


def perl(letter: Letter, folder: Path, target: Path) -> None:
    """With a form as HTML beside the plain one."""
    program = (
        "use Email::Stuffer; use Encode; my ($s, $f, $t, $e) = map { decode_utf8($_) } @ARGV;"
        "my $b = decode_utf8(join '', <STDIN>); my $h = $b; $h =~ s/&/&amp;/g; $h =~ s/</&lt;/g; $h =~ s/\\n\\n/<\\/p><p>/g;"
        'my $m = Email::Stuffer->from($f)->to($t)->subject($s)->text_body($b)->html_body("<p>$h</p>");'
        "$m->attach_file($e) if $e; print $m->as_string"
    )
    enclosed = [] if letter.enclosed is None else [str(letter.enclosed)]
    _run(["perl", "-e", program, letter.subject, SENDER, READER, *enclosed], folder, letter.body, target)


PROGRAMS: Mapping[str, tuple[Compose, str]] = {
    "mutt": (mutt, "mutt"),
    "s-nail": (s_nail, "s-nail"),
    "mailutils": (mailutils, "mail.mailutils"),
    "swaks": (swaks, "swaks"),
    "mime-construct": (mime_construct, "mime-construct"),
    "mblaze": (mmime, "mmime"),
    "ruby-mail": (ruby, "ruby"),
    "Email::Stuffer": (perl, "perl"),
}


def absent() -> list[str]:
    """Programs that are not here."""
    return [name for name, (_, program) in PROGRAMS.items() if shutil.which(program) is None]

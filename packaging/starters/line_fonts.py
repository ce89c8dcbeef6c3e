"""The fonts that the Reader learns from and those it is tested on, as files of Debian packages.

Packages: fonts-dejavu-core fonts-dejavu-extra fonts-liberation fonts-freefont-ttf fonts-noto-core fonts-roboto-unhinted
fonts-roboto-slab fonts-open-sans fonts-lato fonts-cantarell fonts-hack-ttf fonts-firacode fonts-inconsolata
fonts-linuxlibertine fonts-texgyre fonts-crosextra-carlito fonts-crosextra-caladea fonts-ebgaramond fonts-sil-gentiumplus
fonts-sil-charis fonts-junicode fonts-oldstandard fonts-paratype fonts-cabin fonts-urw-base35 fonts-quattrocento
fonts-anonymous-pro fonts-jetbrains-mono fonts-mononoki fonts-lmodern fonts-inter fonts-karla fonts-courier-prime
fonts-vollkorn fonts-stix fonts-adf-gillius fonts-adf-romande fonts-adf-universalis fonts-adf-baskervald
fonts-comic-neue fonts-league-mono fonts-play fonts-manrope"""

from __future__ import annotations

from functools import cache
from pathlib import Path

ROOTS = (Path("/usr/share/fonts"), Path("/usr/share/texmf/fonts"))

# Held out: no glyph of these families is seen in training. Three styles of letter, each in regular, bold and italic.
HELD_OUT = {
    "sans": ["Carlito-*.ttf", "OpenSans-{Regular,Bold,Italic,BoldItalic}.ttf"],
    "serif": ["Caladea-*.ttf", "GentiumPlus-{Regular,Bold,Italic,BoldItalic}.ttf"],
    "mono": ["Courier Prime.otf", "Courier Prime {Bold,Italic,Bold Italic}.otf", "PTM55F.ttf"],
}

# Families that people meet most come several times: the chance of a family is its count here.
TRAINING = {
    "sans": [
        *["LiberationSans-*.ttf", "NimbusSans-*.otf", "DejaVuSans{,-Bold,-Oblique,-BoldOblique}.ttf"] * 2,
        *["Roboto-{Regular,Bold,Italic,BoldItalic,Medium,Light}.ttf"] * 2,
        *["NotoSans-{Regular,Bold,Italic,BoldItalic}.ttf"] * 2,
        *["FreeSans{,Bold,Oblique,BoldOblique}.ttf", "LiberationSansNarrow-*.ttf"],
        *["NotoSansDisplay-{Regular,Bold,Italic,BoldItalic}.ttf", "Lato-{Regular,Bold,Italic,BoldItalic,Light}.ttf"],
        *["Cantarell-{Regular,Bold,Light}.otf", "PTS55F.ttf", "PTS56F.ttf", "PTS75F.ttf", "PTS76F.ttf"],
        *[
            "Inter-{Regular,Bold,Italic,BoldItalic,Light}.otf",
            "Karla-{Regular,Bold,Italic,Light}.otf",
            "Manrope-{Regular,Bold,Light}.ttf",
            "Play-*.otf",
        ],
        *["Cabin-{Regular,Bold,Italic,BoldItalic}.otf", "LinBiolinum_R{,B,I}.otf", "texgyreadventor-*.otf"],
        *["texgyreheros-*.otf", "texgyreheroscn-*.otf", "URWGothic-*.otf", "GilliusADF-{Regular,Bold,Italic,Cond}.otf"],
        *["UniversalisADFStd-{Regular,Bold,Italic,Cond}.otf", "ComicNeue-{Regular,Bold,Italic}.otf"],
        *["lmsans10-{regular,bold,oblique}.otf", "DejaVuSansCondensed{,-Bold,-Oblique}.ttf"],
    ],
    "serif": [
        *["LiberationSerif-*.ttf", "NimbusRoman-*.otf", "texgyretermes-*.otf", "DejaVuSerif{,-Bold,-Italic}.ttf"] * 2,
        *["NotoSerif-{Regular,Bold,Italic,BoldItalic}.ttf"] * 2,
        *["FreeSerif{,Bold,Italic,BoldItalic}.ttf", "NotoSerifDisplay-{Regular,Bold,Italic,BoldItalic}.ttf"],
        *["LinLibertine_R{,B,I,BI}.otf", "C059-*.otf", "P052-*.otf", "URWBookman-*.otf", "texgyrebonum-*.otf"],
        *["texgyrepagella-*.otf", "texgyreschola-*.otf", "EBGaramond12-{Regular,Bold,Italic}.otf"],
        *["CharisSIL-*.ttf", "JunicodeTwoBeta-{Regular,Bold,Italic,BoldItalic}.otf", "OldStandard-*.ttf"],
        *[
            "PTF55F.ttf",
            "PTF56F.ttf",
            "PTF75F.ttf",
            "PTF76F.ttf",
            "Quattrocento-*.otf",
            "RobotoSlab-{Regular,Bold}.otf",
        ],
        *["Vollkorn-{Regular,Bold,Italic,BoldItalic}.ttf", "STIX-*.otf", "STIXGeneral-*.otf"],
        *["lmroman10-{regular,bold,italic,bolditalic}.otf", "RomandeADFStd-{Regular,DemiBold,Italic}.otf"],
        *["BaskervaldADFStd{,-Bold,-Italic}.otf", "DejaVuSerifCondensed{,-Bold,-Italic}.ttf"],
    ],
    "mono": [
        *["LiberationMono-*.ttf", "DejaVuSansMono{,-Bold,-Oblique,-BoldOblique}.ttf", "NimbusMonoPS-*.otf"] * 2,
        *["FreeMono{,Bold,Oblique,BoldOblique}.ttf", "NotoSansMono-{Regular,Bold}.ttf", "Hack-*.ttf"],
        *["FiraCode-{Regular,Bold,Light}.ttf", "Inconsolata*.otf", "texgyrecursor-*.otf"],
        *["Anonymous Pro{, B, I, BI}.ttf", "JetBrainsMono-{Regular,Bold,Italic}.ttf", "mononoki-*.ttf"],
        *["lmmono10-{regular,italic}.otf", "LeagueMono-{Regular,Bold,Light}.otf", "lmmonolt10-bold.otf"],
    ],
}
SHARES = {"sans": 0.42, "serif": 0.38, "mono": 0.20}


@cache
def _installed() -> dict[str, Path]:
    found: dict[str, Path] = {}
    for root in ROOTS:
        for path in sorted(root.rglob("*")):
            if path.suffix in (".ttf", ".otf"):
                found.setdefault(path.name, path)
    return found


def _spelled_out(pattern: str) -> list[str]:
    """Each choice between braces on its own."""
    if "{" not in pattern:
        return [pattern]
    head, _, rest = pattern.partition("{")
    inside, _, tail = rest.partition("}")
    return [head + choice + tail for choice in inside.split(",")]


@cache
def files(pattern: str) -> tuple[Path, ...]:
    """The installed font files that a pattern of the tables above names."""
    names = _installed()
    wanted = [Path(spelled) for spelled in _spelled_out(pattern)]
    return tuple(path for name, path in names.items() if any(Path(name).match(str(one)) for one in wanted))


def missing() -> list[str]:
    """Patterns of both tables that name no installed file."""
    tables = (*HELD_OUT.values(), *TRAINING.values())
    return sorted({pattern for table in tables for pattern in table if not files(pattern)})

"""Updates: what is not signed is never used, a download goes on where it was cut off, and a Grus from source never looks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app import updates
from app.minisign import BadSignature, PublicKey, verify
from app.updates import UpdateSource, check, download, how_to_install, is_newer
from engine.errors import GrusError, Offline
from engine.hub import offline
from tests.app.conftest import Outcome
from tests.app.release_site import DATA, KEY, ReleaseSite, serving_releases
from tests.asserting import every
from tests.needs import need_program


@pytest.fixture
def site() -> Iterator[ReleaseSite]:
    with serving_releases() as here:
        yield here


@pytest.fixture
def announced(site: ReleaseSite) -> UpdateSource:
    return site.announce()


def test_a_signed_release_that_is_newer_is_found(announced: UpdateSource) -> None:
    found = check(announced, "0.1.0")
    assert found is not None
    assert (found.version, found.notes) == ("9.9.9", "- Everything is better.\n")
    assert found.files["deb"].name == "grus_9.9.9_amd64.deb"
    assert check(announced, "9.9.9") is None


def test_what_was_changed_after_it_was_signed_is_refused(announced: UpdateSource, site: ReleaseSite) -> None:
    site.files["latest.json"] = site.files["latest.json"].replace(b"9.9.9", b"9.9.8")
    with pytest.raises(Offline, match="not trusted: the file is not the one that was signed"):
        check(announced, "0.1.0")


def test_the_signature_of_another_key_is_refused(announced: UpdateSource, site: ReleaseSite) -> None:
    other = PublicKey(bytes(8), announced.key.point)
    with pytest.raises(Offline, match="made with another key"):
        check(UpdateSource(announced.feed, other), "0.1.0")
    swapped = PublicKey(
        announced.key.id, bytes.fromhex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")
    )
    with pytest.raises(Offline, match="not trusted"):
        check(UpdateSource(announced.feed, swapped), "0.1.0")


@pytest.mark.parametrize("signature", ["", "a\nb\nc\nd", "untrusted comment: x\nRUQ=\ntrusted comment: y\nAAAA\n"])
def test_a_broken_signature_is_refused(announced: UpdateSource, site: ReleaseSite, signature: str) -> None:
    site.files["latest.json.minisig"] = signature.encode()
    with pytest.raises(Offline, match="not trusted"):
        check(announced, "0.1.0")


def test_a_changed_comment_is_refused() -> None:
    signature = (DATA / "latest.json.minisig").read_text(encoding="utf-8").replace("grus latest", "grus newest")
    with pytest.raises(BadSignature, match="comment"):
        PublicKey.parse(KEY).check((DATA / "latest.json").read_bytes(), signature)


def test_no_signature_and_no_site_are_sentences(announced: UpdateSource, site: ReleaseSite) -> None:
    del site.files["latest.json.minisig"]
    with pytest.raises(Offline, match="Not Found"):
        check(announced, "0.1.0")


def test_offline_means_that_nothing_is_asked(announced: UpdateSource, site: ReleaseSite) -> None:
    offline.forbid("Settings say to work offline")
    try:
        with pytest.raises(Offline, match="Settings say"):
            check(announced, "0.1.0")
    finally:
        offline.permit()
    assert site.asked == []


def test_nothing_is_fetched_without_encryption_from_elsewhere() -> None:
    with pytest.raises(Offline, match="https"):
        check(UpdateSource("http://example.com/latest.json", PublicKey.parse(KEY)), "0.1.0")


@pytest.mark.parametrize(
    ("version", "than", "newer"),
    [
        ("0.2.0", "0.1.9", True), ("0.10.0", "0.9.0", True), ("1.0.0", "1.0.0rc1", True), ("1.0.0rc2", "1.0.0rc1", True),
        ("1.0.0", "1.0.0.dev3", True), ("1.0.0", "1.0.0", False), ("0.9", "1.0.0", False), ("1.0", "1.0.0", False),
    ],
)  # fmt: skip
def test_versions_are_ordered_as_releases_are(version: str, than: str, newer: bool) -> None:
    assert is_newer(version, than) is newer


def test_a_download_goes_on_where_it_was_cut_off(site: ReleaseSite, tmp_path: Path) -> None:
    data = bytes(range(256)) * 4000
    file = site.add("grus.deb", data)
    site.cut["grus.deb"] = 300_000
    with pytest.raises(Offline):
        download(file, tmp_path)
    seen: list[int] = []
    assert download(file, tmp_path, lambda done, total: seen.append(done)).read_bytes() == data
    assert site.asked[-1] == ("/grus.deb", "bytes=300000-")
    assert (seen[-1], [path.name for path in tmp_path.iterdir()]) == (len(data), ["grus.deb"])
    asked = len(site.asked)
    download(file, tmp_path)  # it is there
    assert len(site.asked) == asked


def test_a_file_with_another_digest_is_deleted(site: ReleaseSite, tmp_path: Path) -> None:
    file = site.add("grus.deb", b"something else", hashlib.sha256(b"what was signed").hexdigest())
    with pytest.raises(GrusError, match="not the file that was announced"):
        download(file, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_appimage_replaces_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = tmp_path / "Grus.AppImage", tmp_path / "Grus-2.AppImage"
    old.write_bytes(b"old")
    new.write_bytes(b"new")
    monkeypatch.setenv("APPIMAGE", str(old))
    assert "Start it again" in how_to_install("appimage", new)
    assert old.read_bytes() == b"new"
    assert old.stat().st_mode & 0o111


def test_an_appimage_that_cannot_be_replaced_stays_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    new = tmp_path / "Grus-2.AppImage"
    new.write_bytes(b"new")
    monkeypatch.setenv("APPIMAGE", str(tmp_path / "nowhere" / "Grus.AppImage"))
    with pytest.raises(GrusError, match="cannot be replaced"):
        how_to_install("appimage", new)
    assert new.read_bytes() == b"new"


def test_every_kind_of_installation_has_its_way(tmp_path: Path) -> None:
    assert every(how_to_install(kind, tmp_path / "file") for kind in ("deb", "rpm", "dmg", "setup", "python"))


def test_a_grus_from_source_never_looks(command: Callable[..., Outcome], site: ReleaseSite) -> None:
    assert "from source" in command("update").out


def test_a_wheel_that_was_not_told_where_to_look_does_not_call_itself_source(
    command: Callable[..., Outcome], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("resources.path", lambda *names: tmp_path.joinpath("resources", *names))
    said = command("update").out
    assert "as you installed this one" in said
    assert "git pull" not in said


def test_the_command_shows_what_changed_and_says_how(
    command: Callable[..., Outcome], announced: UpdateSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(updates.UpdateSource, "installed", classmethod(lambda cls: announced))
    shown = command("update", "--check")
    assert shown.out.startswith("Grus 9.9.9 is out.\n\n- Everything is better.")
    assert "uv tool upgrade grus" in command("update").out


def test_minisign_and_grus_agree(tmp_path: Path) -> None:
    import subprocess

    need_program("minisign")
    secret, public, file = tmp_path / "k.key", tmp_path / "k.pub", tmp_path / "file"
    file.write_bytes(b"some bytes")
    for arguments in (["-G", "-p", public, "-s", secret], ["-S", "-s", secret, "-m", file, "-t", "a comment"]):
        subprocess.run(["minisign", "-W", *map(str, arguments)], check=True, capture_output=True, timeout=60)
    key = PublicKey.parse(public.read_text())
    signature = (tmp_path / "file.minisig").read_text()
    assert key.check(b"some bytes", signature) == "a comment"
    with pytest.raises(BadSignature):
        key.check(b"some byte", signature)


# RFC 8032, 7.1, tests 1 and 2
RFC = [
    ("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"),
    ("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"),
]  # fmt: skip


@pytest.mark.parametrize(("key", "message", "signature"), RFC)
def test_ed25519_is_as_the_standard_has_it(key: str, message: str, signature: str) -> None:
    a, m, s = bytes.fromhex(key), bytes.fromhex(message), bytes.fromhex(signature)
    assert verify(a, m, s)
    assert not verify(a, m + b"x", s)
    assert not verify(a, m, s[:-1] + bytes([s[-1] ^ 1]))
    assert not verify(b"\xff" * 32, m, s)


def test_the_feed_of_the_tests_is_what_release_writes() -> None:
    feed = json.loads((DATA / "latest.json").read_text(encoding="utf-8"))
    assert set(feed) == {"version", "notes", "files"}
    assert every(set(file) == {"url", "sha256", "size"} for file in feed["files"].values())

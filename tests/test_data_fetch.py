"""Fetching data sets from a local server: broken downloads, wrong checksums, lost connections, resume."""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from planner_eval.base.errors import DatasetError
from planner_eval.benchmarks.datasets.fetch import FetchOptions, FetchResult, fetch
from planner_eval.benchmarks.datasets.published import (
    Dataset,
    PublishedFile,
    cache_folder,
    dataset_folder,
    find_dataset,
    published_datasets,
    read,
    read_accepted_checksums,
    verify,
)
from tests.conftest import tabled
from tests.dataserver import Files, serving
from tests.fuzz_endpoints import Answer, Server

BODY = b"".join(b"line %d of a file that is long enough to break\n" % n for n in range(20_000))


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def dataset(files: Files, *published_files: PublishedFile) -> Dataset:
    return Dataset("toy", "", "", "", 0, "toy", None, (), f"{files.url}/", published_files)


KNOWN = PublishedFile("sub/known.bin", "toy/known.bin", len(BODY), sha256(BODY))
UNKNOWN = PublishedFile("unknown.bin", "toy/known.bin")


@pytest.fixture
def files(tmp_path: Path) -> Iterator[Files]:
    (tmp_path / "served" / "toy").mkdir(parents=True)
    (tmp_path / "served" / "toy" / "known.bin").write_bytes(BODY)
    with serving(tmp_path / "served") as served:
        yield served


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "kept"


FAST = FetchOptions(pause=0.001)


def whats(done: Iterator[FetchResult]) -> list[str]:
    return [one.what for one in done]


def test_fetch_and_then_leave_alone(files: Files, folder: Path) -> None:
    seen: list[tuple[str, int, int | None]] = []
    options = replace(FAST, progress=lambda *progress: seen.append(progress))
    assert whats(fetch(dataset(files, KNOWN), folder, options)) == ["fetched"]
    assert (folder / "sub/known.bin").read_bytes() == BODY
    assert seen[0][1] == 0
    assert seen[-1] == ("sub/known.bin", len(BODY), len(BODY))
    assert whats(fetch(dataset(files, KNOWN), folder, options)) == ["present"]
    assert len(files.log) == 1
    assert sorted(path.name for path in folder.rglob("*") if path.is_file()) == ["known.bin"]


def test_lost_connection_is_taken_up_where_it_broke(files: Files, folder: Path) -> None:
    files.breaks = [100_000, 200_000]
    assert whats(fetch(dataset(files, KNOWN), folder, FAST)) == ["fetched"]
    assert (folder / "sub/known.bin").read_bytes() == BODY
    assert [wanted for _, wanted in files.log] == [None, "bytes=100000-", "bytes=300000-"]
    (folder / "sub/known.bin").unlink()
    files.breaks, files.ranges = [50_000], False
    assert whats(fetch(dataset(files, KNOWN), folder, FAST)) == ["fetched"]
    assert (folder / "sub/known.bin").read_bytes() == BODY
    with pytest.raises(DatasetError, match="more than 1,000 bytes"):
        list(fetch(dataset(files, replace(KNOWN, path="short.bin", bytes=1000)), folder, FAST))
    assert not list(folder.rglob("*.part"))


def test_broken_download_is_kept_and_continued_the_next_time(files: Files, folder: Path) -> None:
    files.breaks = [50_000, 0, 0, 0]
    with pytest.raises(DatasetError, match=r"broke after 50,000 of .* 50,000 bytes are kept"):
        list(fetch(dataset(files, KNOWN), folder, FAST))
    assert not (folder / "sub/known.bin").exists()
    assert whats(fetch(dataset(files, KNOWN), folder, FAST)) == ["fetched"]
    assert files.log[-1][1] == "bytes=50000-"
    assert (folder / "sub/known.bin").read_bytes() == BODY


def test_wrong_checksum_is_not_kept(files: Files, folder: Path) -> None:
    files.spoil = True
    with pytest.raises(DatasetError, match=rf"the checksum is [0-9a-f]{{64}} .* expected {KNOWN.sha256}"):
        list(fetch(dataset(files, KNOWN), folder, FAST))
    assert not [path for path in folder.rglob("*") if path.is_file()]
    files.spoil = False
    assert whats(fetch(dataset(files, KNOWN), folder, FAST)) == ["fetched"]


def test_part_of_another_file_is_thrown_away(files: Files, folder: Path) -> None:
    (folder / "sub").mkdir(parents=True)
    for part, asked in ((b"x" * 1000, True), (BODY + b"more", True), (BODY, False)):  # all of it was there
        (folder / "sub/known.bin.part").write_bytes(part)
        before = len(files.log)
        assert whats(fetch(dataset(files, KNOWN), folder, FAST)) == ["fetched"]
        assert (len(files.log) > before) is asked
        (folder / "sub/known.bin").unlink()


def test_file_that_was_changed_on_disk_is_fetched_again(files: Files, folder: Path) -> None:
    list(fetch(dataset(files, KNOWN), folder, FAST))
    (folder / "sub/known.bin").write_bytes(b"changed")
    assert [s.state for s in verify(dataset(files, KNOWN), folder)] == ["differs"]
    assert whats(fetch(dataset(files, KNOWN), folder, FAST)) == ["fetched"]
    assert [s.state for s in verify(dataset(files, KNOWN), folder)] == ["ok"]


def test_passing_trouble_and_lasting_trouble(files: Files, folder: Path) -> None:
    files.codes = [503, 429]
    known = dataset(files, KNOWN)
    assert whats(fetch(known, folder, FAST)) == ["fetched"]
    absent = dataset(files, replace(KNOWN, path="absent.bin", url="toy/absent.bin"))
    elsewhere, gone = (replace(known, address=one) for one in ("file:///etc/", "http://127.0.0.1:9/"))
    wrong = {"answered 404": absent, "only http and https": elsewhere, "no connection": gone}
    for said, data in wrong.items():
        with pytest.raises(DatasetError, match=said):
            list(fetch(data, folder.parent / "other", FAST))
    for text in ("{", "[]", '{"a": 1}'):
        (folder / "accepted.json").write_text(text)
        with pytest.raises(DatasetError, match="delete it and fetch again"):
            read_accepted_checksums(folder)


def test_unknown_checksum_is_shown_and_asked_for(files: Files, folder: Path) -> None:
    asked: list[str] = []

    def refuses(file: PublishedFile, checksum: str) -> bool:
        asked.append(checksum)
        return False

    refuse = replace(FAST, accept=refuses)
    with pytest.raises(DatasetError, match=rf"computed one is {sha256(BODY)}.*--accept-checksum"):
        list(fetch(dataset(files, UNKNOWN), folder, refuse))
    assert asked == [sha256(BODY)]
    assert not (folder / "unknown.bin").exists()
    requests = len(files.log)
    accept = replace(FAST, accept=lambda file, checksum: True)
    assert whats(fetch(dataset(files, UNKNOWN), folder, accept)) == ["fetched"]
    assert [wanted for _, wanted in files.log[requests:]] == [f"bytes={len(BODY)}-"]  # not sent again
    assert read_accepted_checksums(folder) == {"unknown.bin": sha256(BODY)}
    assert whats(fetch(dataset(files, UNKNOWN), folder, refuse)) == ["present"]
    assert [s.state for s in verify(dataset(files, UNKNOWN), folder)] == ["accepted"]
    (folder / "unknown.bin").write_bytes(b"changed")
    assert [s.state for s in verify(dataset(files, UNKNOWN), folder)] == ["differs"]


def test_source_folder_instead_of_an_address(files: Files, folder: Path, tmp_path: Path) -> None:
    there = tmp_path / "there" / "toy"
    (there / "sub").mkdir(parents=True)
    data, options = dataset(files, KNOWN, PublishedFile("derived.json", None)), replace(FAST, source=there)
    with pytest.raises(DatasetError, match="no such file"):
        list(fetch(data, folder, options))
    (there / "sub/known.bin").write_bytes(BODY)
    assert whats(fetch(data, folder, options)) == ["copied", "absent"]
    (there / "derived.json").write_text("{}")
    assert whats(fetch(data, folder, options)) == ["present", "copied"]
    (folder / "sub/known.bin").unlink()
    (there / "sub/known.bin").write_bytes(b"other")
    for kept, said in ((folder, "the checksum is"), (there, "folder to copy to")):
        with pytest.raises(DatasetError, match=said):
            list(fetch(data, kept, options))
    assert not files.log


def test_published_files_from_a_server(reference: Path, folder: Path, tmp_path: Path) -> None:
    laid_out = tmp_path / "mirror"
    laid_out.mkdir()
    sets = {name: data for name, data in published_datasets().items() if name != "bfcl"}  # no reference
    for name in sets:
        (laid_out / name).symlink_to(reference / "datasets" / published_datasets()[name].reader)
    with serving(laid_out) as served:
        served.breaks = [1000, 2000]
        options = replace(FAST, mirror=served.url)
        for name, data in sets.items():
            assert all(data.url(file).startswith("https://") for file in data.files)
            complete = [file for file in data.files if file.sha256]
            known = replace(data, files=tuple(complete))
            assert whats(fetch(known, folder / name, options)) == ["fetched"] * len(complete)
            assert {s.state for s in verify(known, folder / name)} <= {"ok"}
    for name in ("appbench", "callnavi", "functionchat", "mathqa", "nestful-v1"):
        assert sum(1 for _ in read(find_dataset(name), folder / name)) == find_dataset(name).records
    for name, said in (
        ("nestful", "did you mean nestful-v1 or nestful-v2"),
        ("zzz", "expected one of appbench"),
    ):
        with pytest.raises(DatasetError, match=said):
            find_dataset(name)


def test_cache_folder_by_custom(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("PLANEVAL_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "planner_eval"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # to be ignored, says the standard
    monkeypatch.setattr("sys.platform", "linux")
    assert cache_folder() == Path("~/.cache/planner_eval").expanduser()
    monkeypatch.setattr("sys.platform", "darwin")
    assert cache_folder() == Path("~/Library/Caches/planner_eval").expanduser()
    monkeypatch.setenv("PLANEVAL_CACHE", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"
    assert cache_folder(str(tmp_path / "named")) == tmp_path / "named"
    with pytest.raises(DatasetError, match="no such folder"):
        dataset_folder(find_dataset("mathqa"), source=str(tmp_path / "absent"))


def test_a_server_that_drips_is_given_up(files: Files, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planner_eval.benchmarks.datasets.fetch.TIMEOUT", 0.2)
    files.drip = 0.05
    with pytest.raises(DatasetError, match=r"the server sent \d bytes in 0.2 seconds; \d+ bytes are kept"):
        list(fetch(dataset(files, KNOWN), folder, FAST))
    assert len(files.log) == 4


@tabled("said, how, why")
def test_a_server_without_a_body_is_given_up(
    said: str, how: str, why: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Status lines without end, a head that drips and what a redirect says were read for ever."""
    monkeypatch.setattr("planner_eval.benchmarks.datasets.fetch.TIMEOUT", 0.2)
    with Server() as server:
        server.set((Answer((said.encode(),), how),))
        data = replace(dataset(Files(folder), KNOWN), address=f"{server.url}/")
        with pytest.raises(DatasetError, match=rf"{why}.*0 bytes are kept"):
            list(fetch(data, folder, FAST))
        assert server.asked == 4

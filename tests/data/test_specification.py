"""docs/store.md is enough to read a store by: this reader knows the page, and nothing of dard."""

import json
import re
import struct
import zlib
from pathlib import Path

import pytest

import dard

STORE = Path(__file__).parent / "fixtures" / "schema-2"
PAGE = Path(__file__).parents[2] / "docs" / "store.md"
CODES = {"<f4": "f", "<i8": "q"}


def read_by_the_page(store: Path) -> dict[str, list]:
    manifest = json.loads((store / "manifest.json").read_text(encoding="utf-8"))
    assert (manifest["format"], manifest["schema"]) == ("dard-transitions", 2)
    assert sum(shard["transitions"] for shard in manifest["shards"]) == manifest["transitions"]
    columns = {}
    for name, column in manifest["columns"].items():
        rows, *axes = column["shape"]
        layout = struct.Struct("<" + CODES[column["dtype"]] * (axes[0] if axes else 1))
        content = (store / column["file"]).read_bytes()[column["offset"] :]
        assert len(content) == rows * layout.size
        start = 0
        for shard in manifest["shards"]:
            stop = start + shard["transitions"] * layout.size
            assert f"{zlib.crc32(content[start:stop]):08x}" == shard["crc32"][name]
            start = stop
        values = [list(row) for row in layout.iter_unpack(content)]
        columns[name] = values if axes else [row[0] for row in values]
    return columns


def test_another_program_reads_the_same() -> None:
    data = dard.load_transitions(STORE)
    for name, column in read_by_the_page(STORE).items():
        assert getattr(data, name).tolist() == column


def test_another_program_notices_damage(tmp_path: Path) -> None:
    for path in STORE.iterdir():
        content = bytearray(path.read_bytes())
        content[-1] ^= path.name == "action.npy"
        (tmp_path / path.name).write_bytes(content)
    with pytest.raises(AssertionError):
        read_by_the_page(tmp_path)


def test_the_manifest_on_the_page_is_that_of_the_store() -> None:
    (example,) = re.findall(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert json.loads(example) == json.loads((STORE / "manifest.json").read_text())

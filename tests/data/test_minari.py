import json
import shutil
import sys
import warnings
from pathlib import Path

import gymnasium as gym
import minari
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from minari.data_collector import EpisodeBuffer
from tests.data.helpers import one_line

from dard.core.errors import ConfigurationError, DataError, FileFormatError, MissingExtraError
from dard.data import load_transitions

LENGTHS = (4, 1, 7)


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    return tmp_path


def create(name: str, observations: list, actions: list, spaces: tuple) -> None:
    buffers = [
        EpisodeBuffer(
            observations=observation,
            actions=action,
            rewards=[0.0] * length,
            terminations=[False] * length,
            truncations=[False] * (length - 1) + [True],
        )
        for observation, action, length in zip(observations, actions, LENGTHS, strict=True)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of everything that Minari would like to be told
        minari.create_dataset_from_buffers(
            name,
            buffers,
            observation_space=spaces[0],
            action_space=spaces[1],
            data_format="arrow",
        )


def normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).normal(size=shape)


def create_plain(name: str = "plain-v0") -> tuple[list, list]:
    observations = [normal(length + 1, 3) for length in LENGTHS]
    actions = [normal(length, 2) for length in LENGTHS]
    box = gym.spaces.Box(-9, 9, (3,), np.float64), gym.spaces.Box(-9, 9, (2,), np.float64)
    create(name, observations, actions, box)
    return observations, actions


def test_episodes_become_transitions() -> None:
    observations, actions = create_plain("some/space/plain-v0")
    data = load_transitions("minari:some/space/plain-v0")
    np.testing.assert_array_equal(data.state, np.concatenate([o[:-1] for o in observations]))
    np.testing.assert_array_equal(data.next_state, np.concatenate([o[1:] for o in observations]))
    np.testing.assert_array_equal(data.action, np.concatenate(actions))
    assert data.episode.tolist() == [0] * 4 + [1] + [2] * 7


def test_dictionaries_and_discrete_actions() -> None:
    parts = [{"z": normal(n + 1, 2), "a": {"k": normal(n + 1, 1)}} for n in LENGTHS]
    box = gym.spaces.Box(-9, 9, (2,), np.float64), gym.spaces.Box(-9, 9, (1,), np.float64)
    space = gym.spaces.Dict({"z": box[0], "a": gym.spaces.Dict({"k": box[1]})})
    actions = [np.arange(n) % 3 for n in LENGTHS]
    create("dict-v1", parts, actions, (space, gym.spaces.Discrete(3)))
    data = load_transitions("minari:dict-v1")
    first = parts[0]
    expected = np.concatenate([first["a"]["k"], first["z"]], axis=1)
    np.testing.assert_array_equal(data.state[:4], expected[:-1])
    np.testing.assert_array_equal(data.next_state[:4], expected[1:])
    assert data.action.dtype.kind == "i"
    assert data.action.shape == (12,)


def test_tuples_are_refused() -> None:
    box = gym.spaces.Box(-9, 9, (2,), np.float64)
    parts = [(normal(n + 1, 2), normal(n + 1, 2)) for n in LENGTHS]
    space = gym.spaces.Tuple([box, box])
    create("tuple-v0", parts, [normal(n, 2) for n in LENGTHS], (space, box))
    with pytest.raises(DataError, match="tuple observations") as caught:
        load_transitions("minari:tuple-v0")
    assert one_line(caught.value).startswith("minari:tuple-v0")


def test_missing_dataset_says_how_to_download_and_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    downloads: list[str] = []
    monkeypatch.setattr("minari.storage.hosting.download_dataset", downloads.append)
    with pytest.raises(FileFormatError, match="minari download mujoco/hopper/expert-v0") as caught:
        load_transitions("minari:mujoco/hopper/expert-v0")
    one_line(caught.value)
    assert downloads == []


@pytest.mark.parametrize("name", ["", "../secret-v0", "/etc/passwd", "a/../../b-v0", "a b"])
def test_ids_cannot_lead_out_of_the_datasets_folder(name: str) -> None:
    with pytest.raises(ConfigurationError, match="no dataset id"):
        load_transitions(f"minari:{name}")


def forget_spaces_and_name_an_environment(root: Path, module: str) -> None:
    file = root / "plain-v0" / "data" / "metadata.json"
    metadata = json.loads(file.read_text())
    del metadata["observation_space"]
    spec = EnvSpec("Attack-v0", entry_point=f"{module}:make")
    file.write_text(json.dumps(metadata | {"env_spec": spec.to_json()}))


def test_loading_never_runs_the_environment_that_a_dataset_names(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_plain()
    forget_spaces_and_name_an_environment(root, "dard_test_attack")
    (root / "dard_test_attack.py").write_text(
        f"open({str(root / 'executed')!r}, 'w').close()\nmake = None\n"
    )
    monkeypatch.syspath_prepend(root)
    with pytest.raises(FileFormatError, match="does not state its spaces") as caught:
        load_transitions("minari:plain-v0")
    one_line(caught.value)
    assert not (root / "executed").exists()
    with pytest.raises(Exception, match="not callable"):
        minari.load_dataset("plain-v0")
    assert (root / "executed").exists(), "negative control: Minari alone runs it"


def test_named_environment_stays_data_where_spaces_are_stated(root: Path) -> None:
    create_plain()
    file = root / "plain-v0" / "data" / "metadata.json"
    spec = EnvSpec("Absent-v0", entry_point="no_such_module:make")
    metadata = json.loads(file.read_text()) | {"env_spec": spec.to_json()}
    file.write_text(json.dumps(metadata))
    assert len(load_transitions("minari:plain-v0")) == sum(LENGTHS)


def test_metadata_that_is_not_json(root: Path) -> None:
    create_plain()
    (root / "plain-v0" / "data" / "metadata.json").write_text("{")
    with pytest.raises(FileFormatError, match="not JSON") as caught:
        load_transitions("minari:plain-v0")
    one_line(caught.value)


def test_damaged_and_missing_episodes(root: Path) -> None:
    create_plain()
    (part,) = (root / "plain-v0" / "data" / "2").glob("*.arrow")
    content = part.read_bytes()
    part.write_bytes(content[: len(content) // 2])
    with pytest.raises(FileFormatError, match="cannot be read") as caught:
        load_transitions("minari:plain-v0")
    one_line(caught.value)
    shutil.rmtree(root / "plain-v0" / "data" / "2")
    with pytest.raises(FileFormatError, match="cannot be read") as caught:
        load_transitions("minari:plain-v0")
    one_line(caught.value)


def test_lost_rows_are_noticed(root: Path) -> None:
    create_plain()
    file = root / "plain-v0" / "data" / "metadata.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"total_steps": 13}))
    with pytest.raises(FileFormatError, match="should have 13 transitions but 12"):
        load_transitions("minari:plain-v0")


def test_checksums_cannot_be_asked_for() -> None:
    create_plain()
    with pytest.raises(ConfigurationError, match="have none"):
        load_transitions("minari:plain-v0", verify=True)


def test_missing_minari_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "minari", None)
    with pytest.raises(MissingExtraError, match=r"needs minari: pip install 'dard\[io\]'"):
        load_transitions("minari:plain-v0")


def test_missing_h5py_names_the_extra(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    create_plain()
    file = root / "plain-v0" / "data" / "metadata.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"data_format": "hdf5"}))
    monkeypatch.setitem(sys.modules, "h5py", None)
    monkeypatch.delitem(sys.modules, "minari.dataset._storages.hdf5_storage", raising=False)
    with pytest.raises(MissingExtraError, match=r"needs h5py: pip install 'dard\[io\]'"):
        load_transitions("minari:plain-v0")

import copy
import dataclasses
import pickle

import jax.numpy as jnp
import numpy as np
import pytest
import torch

from dard.core.errors import DataError
from dard.core.transitions import Transitions

LIBRARIES = {"numpy": np.asarray, "torch": torch.tensor, "jax": jnp.asarray}
COLUMNS = ("state", "action", "next_state")
N = 6


def make(library: str = "numpy", n: int = N, episode: object = "each") -> Transitions:
    """Return transitions that know their number: state (i, i), action (10 i), next state +0.5."""
    number = np.arange(n, dtype=np.float32)
    state = np.stack([number, number], axis=1)
    put = LIBRARIES[library]
    ids = np.arange(n) // 2 if isinstance(episode, str) else episode
    return Transitions(put(state), put(10 * number[:, None]), put(state + 0.5), ids)


def numbers(data: Transitions) -> list[int]:
    """Return which transitions of `make` these are, after checking that columns agree."""
    state, action, next_state = (np.asarray(getattr(data, name)) for name in COLUMNS)
    number = state[:, 0].astype(int)
    np.testing.assert_array_equal(action[:, 0], 10 * number)
    np.testing.assert_array_equal(next_state, state + np.float32(0.5))
    if data.episode is not None:
        np.testing.assert_array_equal(data.episode, number // 2)
    return number.tolist()


@pytest.mark.parametrize("library", LIBRARIES)
def test_columns_of_any_library_are_kept(library):
    data = make(library)
    assert data.library == library
    assert len(data) == N
    assert numbers(data) == list(range(N))
    assert repr(data) == (
        f"Transitions(n=6, state=(2,) float32, action=(1,) float32, library={library}, episodes=3)"
    )


def test_transitions_are_frozen():
    data = make()
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.state = np.zeros((N, 2))  # type: ignore[misc]


@pytest.mark.parametrize("name", [*COLUMNS, "episode"])
def test_numpy_columns_are_read_only_views_of_the_users_arrays(name):
    given = {"state": np.zeros((3, 2)), "action": np.zeros(3), "next_state": np.ones((3, 2))}
    given["episode"] = np.arange(3)
    data = Transitions(**given)
    column = getattr(data, name)
    assert np.shares_memory(column, given[name])
    with pytest.raises(ValueError, match="read-only"):
        column[0] = 1
    given[name][0] = 5  # The user's own array stays writeable.
    assert np.all(column[0] == 5)


def test_memory_mapped_columns_stay_on_disk(tmp_path):
    np.save(tmp_path / "state.npy", np.arange(8.0).reshape(4, 2))
    state = np.load(tmp_path / "state.npy", mmap_mode="r")
    data = Transitions(state, state, state)
    for part in (data, data[1:3]):
        assert np.shares_memory(part.state, state)


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_arrays_of_other_libraries_are_not_copied(library):
    state = LIBRARIES[library](np.zeros((3, 2)))
    assert Transitions(state, state, state).state is state


def test_lists_become_numpy():
    data = Transitions([[0, 1], [2, 3]], [0, 1], [[2, 3], [4, 5]], [7, 7])
    assert data.library == "numpy"
    assert data.action.tolist() == [0, 1]
    assert data.episode.tolist() == [7, 7]


@pytest.mark.parametrize("shape", [(4,), (4, 1)])
def test_discrete_actions_keep_their_type_and_shape(shape):
    data = Transitions(np.zeros((4, 2)), np.arange(4).reshape(shape), np.zeros((4, 2)))
    assert data.action.dtype.kind == "i"
    assert data.action.shape == shape


def test_zero_transitions_are_allowed():
    data = make(n=0)
    assert len(data) == 0
    assert data.state.shape == (0, 2)
    assert len(data[:]) == 0


INDICES = {
    "slice": (slice(1, 4), [1, 2, 3]),
    "step": (slice(None, None, 2), [0, 2, 4]),
    "mask": (np.arange(N) % 3 == 0, [0, 3]),
    "list": ([5, 0], [5, 0]),
    "empty list": ([], []),
    "range": (range(2), [0, 1]),
    "numbers": (np.array([2, -1]), [2, 5]),
    "torch numbers": (torch.tensor([4, 1]), [4, 1]),
    "torch mask": (torch.arange(N) > 3, [4, 5]),
    "jax numbers": (jnp.array([3, 3]), [3, 3]),
    "jax mask": (jnp.arange(N) < 2, [0, 1]),
    "int": (2, [2]),
    "negative int": (-1, [5]),
    "another negative int": (-6, [0]),
    "numpy int": (np.int64(4), [4]),
    "numpy scalar array": (np.array(3), [3]),
    "torch scalar": (torch.tensor(3), [3]),
    "jax scalar": (jnp.array(3), [3]),
}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("kind", INDICES)
def test_indexing_selects_the_same_rows_of_every_column(library, kind):
    index, expected = INDICES[kind]
    part = make(library)[index]
    assert part.library == library
    assert numbers(part) == expected


@pytest.mark.parametrize("index", [6, -7])
def test_an_int_outside_is_an_index_error(index):
    with pytest.raises(IndexError, match=f"transition {index} of 6"):
        make()[index]


def test_slices_share_memory():
    data = make()
    assert np.shares_memory(data[2:4].state, data.state)


@pytest.mark.parametrize("library", LIBRARIES)
def test_concatenation_joins_every_column(library):
    data = make(library, episode=None)
    joined = Transitions.concatenate([data[:2], data[2:2], data[2:]])
    assert joined.library == library
    assert numbers(joined) == list(range(N))
    assert joined.episode is None


def test_episodes_of_different_parts_stay_different_when_joined():
    ids = [[0, 0, 1], [1, 0, 0], [-4, -4, 9]]
    parts = [make(n=3, episode=np.array(part, np.int8)) for part in ids]
    empty = make(n=0, episode=np.zeros(0, int))
    joined = Transitions.concatenate([parts[0], empty, *parts[1:]]).episode
    same = joined[:, None] == joined
    expected = np.zeros((9, 9), bool)
    for start, part in zip((0, 3, 6), ids, strict=True):
        expected[start : start + 3, start : start + 3] = np.array(part)[:, None] == part
    np.testing.assert_array_equal(same, expected)


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ([], "nothing to concatenate"),
        ([make("numpy"), make("torch")], "parts mix numpy and torch"),
        ([make(), make(episode=None)], "some parts have episode ids and some have none"),
    ],
)
def test_parts_that_do_not_fit_are_refused(parts, why):
    with pytest.raises(DataError, match=why):
        Transitions.concatenate(parts)


@pytest.mark.parametrize("library", LIBRARIES)
def test_dictionary_observations_flatten_in_sorted_order_depth_first(library):
    put = LIBRARIES[library]
    image = np.arange(12.0).reshape(2, 2, 3)
    tree = {
        "b": put(image),
        "a": {"z": put(np.array([100.0, 101.0])), "y": put(np.array([[1.0], [2.0]]))},
    }
    data = Transitions(tree, put(np.zeros(2)), tree)
    expected = [[1, 100, *range(6)], [2, 101, *range(6, 12)]]
    assert data.library == library
    np.testing.assert_array_equal(np.asarray(data.state), expected)


def test_dictionary_observations_may_hold_no_transitions():
    tree = {"a": np.zeros((0, 2, 2)), "b": np.zeros(0)}
    assert Transitions(tree, np.zeros(0), tree).state.shape == (0, 5)


ZERO = np.zeros((3, 2))
BAD = {
    "lengths": ((ZERO, np.zeros(2), ZERO), "columns have different lengths: .*'action': 2"),
    "libraries": ((ZERO, torch.zeros(3), ZERO), "mix NumPy and PyTorch: convert"),
    "shapes": ((ZERO, np.zeros(3), np.zeros((3, 4))), r"state has shape \(3, 2\) but next_state"),
    "object": ((ZERO, np.array([None] * 3), ZERO), "action has dtype object"),
    "strings": ((ZERO, ["a", "b", "c"], ZERO), "action has dtype <U1"),
    "complex": ((ZERO, ZERO + 1j, ZERO), "action has dtype complex128"),
    "masked": ((np.ma.masked_equal(ZERO, 0), ZERO, ZERO), "state is a masked array"),
    "scalar": ((ZERO, 1.0, ZERO), "action is a single number; expected a batch"),
    "ragged": ((ZERO, [[1], [1, 2], [1]], ZERO), "action is not a rectangular array"),
    "episode shape": ((ZERO, ZERO, ZERO, np.zeros((3, 1), int)), r"shape \(3, 1\); expected \(3,"),
    "episode length": ((ZERO, ZERO, ZERO, [1, 2]), r"episode has shape \(2,\); expected \(3,\)"),
    "episode dtype": ((ZERO, ZERO, ZERO, np.zeros(3)), "episode has dtype float64; expected int"),
    "no keys": (({}, ZERO, {}), "state is an empty dictionary"),
    "leaf lengths": (
        ({"a": ZERO, "b": ZERO[:2]}, ZERO, ZERO),
        "state has parts of different lengths: {'a': 3, 'b': 2}",
    ),
    "leaf libraries": (({"a": ZERO, "b": torch.zeros(3)}, ZERO, ZERO), "state mixes array lib"),
    "leaf dtype": (({"a": {"b": ["x"] * 3}}, ZERO, ZERO), r"state\['a'\]\['b'\] has dtype <U1"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_columns_are_named(what):
    columns, why = BAD[what]
    with pytest.raises(DataError, match=why) as caught:
        Transitions(*columns)
    assert "\n" not in str(caught.value)


def test_episodes_of_another_library_come_to_the_host():
    data = Transitions(torch.zeros(2, 1), torch.zeros(2), torch.zeros(2, 1), torch.tensor([4, 5]))
    assert isinstance(data.episode, np.ndarray)
    assert data.episode.tolist() == [4, 5]


@pytest.mark.parametrize("library", LIBRARIES)
def test_pickling_keeps_everything(library):
    data = make(library)
    again = pickle.loads(pickle.dumps(data))
    assert again.library == library
    assert numbers(again) == numbers(data)
    assert repr(again) == repr(data)


@pytest.mark.parametrize("again", [pickle.loads(pickle.dumps(make())), copy.deepcopy(make())])
def test_copies_are_read_only_too(again):
    for name in (*COLUMNS, "episode"):
        assert not getattr(again, name).flags.writeable

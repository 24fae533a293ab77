"""Components by name."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psm_sim.errors import InputError
from psm_sim.losses import Inverse, Loss
from psm_sim.registry import Registry, is_file, split_commas, split_parameters, split_spec

LOSSES = Registry("loss", Loss, {"inverse": "psm_sim.losses.published:Inverse"})


@pytest.mark.parametrize(
    ("spec", "name", "texts"),
    [
        ("psm", "psm", {}),
        ("psm:", "psm", {}),
        (" psm : listen_interval = 2 ", "psm", {"listen_interval": "2"}),
        ("bsd:p=0.5,max_sleep_ms=none", "bsd", {"p": "0.5", "max_sleep_ms": "none"}),
        ("my.py:Mine", "my.py:Mine", {}),
        ("a/my.py:Mine:p=1,q=2", "a/my.py:Mine", {"p": "1", "q": "2"}),
        (r"C:\my.py:Mine:p=1", r"C:\my.py:Mine", {"p": "1"}),
        ("lpsm:loss=my.py:Mine", "lpsm", {"loss": "my.py:Mine"}),
        ("lpsm:loss=(my.py:Mine:a=1,b=2),gamma=3", "lpsm", {"loss": "my.py:Mine:a=1,b=2", "gamma": "3"}),
        ("lpsm:loss=max(1, f(2), g(h(3), 4)),p=1", "lpsm", {"loss": "max(1, f(2), g(h(3), 4))", "p": "1"}),
        ("lpsm:loss=where(I>=1,Ti,2)", "lpsm", {"loss": "where(I>=1,Ti,2)"}),
        ("lpsm:loss=(1+Ti)*(2+Ti)", "lpsm", {"loss": "(1+Ti)*(2+Ti)"}),
        ("lpsm:loss=", "lpsm", {"loss": ""}),
    ],
)
def test_a_specification_is_split(spec: str, name: str, texts: dict[str, str]) -> None:
    """Into a name, or a file and a class, and the texts of its parameters."""
    assert split_spec(spec, "thing") == (name, texts)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("p", "'p' is no parameter; expected key=value"),
        ("p=1,", "'' is no parameter"),
        ("=1", "'=1' is no parameter"),
        ("p=1,q,r=2", "'q' is no parameter"),
        ("p=1,p=2", "p is given twice; give it once"),
    ],
)
def test_what_is_no_parameter_is_named(text: str, message: str) -> None:
    """Also one that is given twice."""
    with pytest.raises(InputError, match=message):
        split_parameters(text, "thing")


@given(st.text(alphabet="a,()"))
def test_splitting_at_commas_loses_nothing(text: str) -> None:
    """The parts joined again are the text."""
    assert ",".join(split_commas(text)) == text


@given(st.recursive(st.just("I"), lambda inner: st.builds("max({}, ({}))".format, inner, inner)))
def test_a_formula_of_any_depth_survives(formula: str) -> None:
    """As the value of a parameter, between others."""
    _, texts = split_spec(f"lpsm:gamma=1,loss={formula},min_ms=2", "policy")
    assert texts == {"gamma": "1", "loss": formula, "min_ms": "2"}


def test_a_file_is_told_from_a_name() -> None:
    """By the .py before the colon of the class."""
    assert is_file("my.py:Mine")
    assert is_file("dir.d/my.py:Mine:p=1")
    assert not is_file("my.py")
    assert not is_file("lpsm:loss=my.py:Mine")


def test_a_name_gives_its_class_and_a_specification_an_instance() -> None:
    """Imported when first asked for."""
    assert LOSSES.names() == ["inverse"]
    assert LOSSES.get("inverse") is Inverse
    assert LOSSES.create("inverse:gamma=0.5") == Inverse(0.5)
    assert LOSSES.create("inverse", gamma=0.5) == Inverse(0.5)


def test_an_unknown_name_is_named_with_the_nearest() -> None:
    """And with all there are."""
    with pytest.raises(InputError) as caught:
        LOSSES.create("invers")
    assert str(caught.value) == (
        "There is no loss 'invers'; expected one of inverse, FILE.py:CLASS. Did you mean 'inverse'?"
    )


def test_a_file_gives_its_class(tmp_path: Path) -> None:
    """With parameters behind it."""
    path = tmp_path / "my.py"
    path.write_text("from psm_sim.losses import Inverse\n\nclass Mine(Inverse):\n    name = 'mine'\n")
    made = LOSSES.create(f"{path}:Mine:gamma=2")
    assert (made.name, made.gamma) == ("mine", 2.0)

"""Specs of components: parsing, changes, and their text form."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError

INNER = st.text(alphabet="aI1,.:= ")
VALUES = st.recursive(INNER, lambda inner: st.builds("{}({}){}".format, INNER, inner, INNER))
"""Values with balanced parentheses, such as formulas."""


@pytest.mark.parametrize(
    ("spec", "name", "texts"),
    [
        ("psm", "psm", {}),
        (" psm : listen_interval = 2 ", "psm", {"listen_interval": "2"}),
        ("bsd:p=0.5,max_sleep_ms=none", "bsd", {"p": "0.5", "max_sleep_ms": "none"}),
        ("a/my.py:Mine:p=1,q=2", "a/my.py:Mine", {"p": "1", "q": "2"}),
        (r"C:\my.py:Mine:p=1", r"C:\my.py:Mine", {"p": "1"}),
        ("lpsm:loss=(my.py:Mine:a=1,b=2),gamma=3", "lpsm", {"loss": "my.py:Mine:a=1,b=2", "gamma": "3"}),
        ("lpsm:loss=max(1, f(2), g(h(3), 4)),p=1", "lpsm", {"loss": "max(1, f(2), g(h(3), 4))", "p": "1"}),
        ("lpsm:loss=(1+Ti)*(2+Ti)", "lpsm", {"loss": "(1+Ti)*(2+Ti)"}),
    ],
)
def test_a_spec_is_parsed_into_its_name_and_values(spec: str, name: str, texts: dict[str, str]) -> None:
    """The parts are a name, or a file and a class, and the texts of the parameters."""
    parsed = Spec.parse(spec, "thing")
    assert (parsed.name, parsed.values) == (name, texts)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("p", "invalid parameter 'p'; expected key=value"),
        ("p=1,q,r=2", "invalid parameter 'q'"),
        ("p=1,p=2", "duplicate parameter 'p'; specify it once"),
    ],
)
def test_the_error_for_an_invalid_parameter_quotes_the_text_of_the_parameter(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Spec.parse(f"thing:{text}", "thing")


@given(st.text(alphabet="ab1,=:() ."), st.sampled_from(["policy", "trace"]))
def test_parsing_the_text_of_a_spec_gives_the_same_spec(text: str, kind: str) -> None:
    try:
        spec = Spec.parse(text, kind)
    except InputError:
        return
    assert Spec.parse(str(spec), kind) == spec


@given(st.lists(st.tuples(st.sampled_from(["loss", "gamma", "p"]), VALUES), max_size=5))
def test_parsing_the_text_of_a_changed_spec_gives_the_same_spec(changes: list[tuple[str, str]]) -> None:
    """The new value of a parameter replaces the old one, and a value with commas gets parentheses."""
    spec = Spec.parse("lpsm:min_ms=2", "policy")
    for key, value in changes:
        spec = spec.with_(key, value)
    assert Spec.parse(str(spec), "policy") == spec
    assert list(spec.values) == list(dict.fromkeys(["min_ms", *(key for key, _ in changes)]))


@pytest.mark.parametrize(
    ("text", "key", "value", "expected"),
    [
        ("lpsm:", "loss", "inverse", "lpsm:loss=inverse"),
        (" lpsm : gamma = 1", "loss", "1/Ti", "lpsm:gamma=1,loss=1/Ti"),
        ("lpsm", "loss", "max(1/Ti, 2)", "lpsm:loss=max(1/Ti, 2)"),
        ("lpsm", "loss", "my.py:Mine:a=1,b=2", "lpsm:loss=(my.py:Mine:a=1,b=2)"),
        ("lpsm:loss=(my.py:Mine:a=1,b=2)", "p", 1, "lpsm:loss=(my.py:Mine:a=1,b=2),p=1"),
        ("lpsm:loss=(my.py:Mine:a=1,b=2),p=1", "p", 2, "lpsm:loss=(my.py:Mine:a=1,b=2),p=2"),
        ("lpsm:loss=((1)+(2))", "loss", "((1))", "lpsm:loss=((1))"),
    ],
)
def test_a_new_parameter_is_appended_to_the_text(text: str, key: str, value: object, expected: str) -> None:
    """An existing parameter is replaced, and a value with commas gets parentheses."""
    assert str(Spec.parse(text, "thing").with_(key, value)) == expected


@pytest.mark.parametrize(
    ("text", "name", "values"),
    [
        ("a:b.csv", "a:b.csv", {}),
        ("a:b.csv:pages=3", "a:b.csv", {"pages": "3"}),
        ("ucb:server_delay_ms=none", "ucb", {"server_delay_ms": "none"}),
        ("t.tr:clients=a:7,workload=replay", "t.tr", {"clients": "a:7", "workload": "replay"}),
    ],
)
def test_the_file_name_of_a_trace_may_have_colons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, name: str, values: dict[str, str]
) -> None:
    """A parameter begins with a word and an equals sign."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a:b.csv").touch()
    parsed = Spec.parse(text, "trace")
    assert (parsed.name, parsed.values) == (name, values)
    assert parsed.with_("seed", 1).values == {**values, "seed": "1"}


def test_files_are_listed_at_any_depth_of_a_nested_spec(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Classes, traces, values, and parameters of values may be files. A missing file is not listed."""
    monkeypatch.chdir(tmp_path)
    for name in ("my.py", "table.csv"):
        (tmp_path / name).touch()
    policy = Spec.parse("lpsm:loss=(my.py:Mine:a=1,b=table.csv),gamma=none.json", "policy")
    assert [path.name for path in policy.files()] == ["my.py", "table.csv"]
    assert [path.name for path in Spec.parse("table.csv:seed=1", "trace").files()] == ["table.csv"]
    assert Spec.parse("lpsm:loss=1/Ti", "policy").files() == []

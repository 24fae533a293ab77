"""Styles of policies in figures."""

from __future__ import annotations

from itertools import combinations, permutations

import pytest

from psm_sim.policies import POLICIES
from psm_sim.reporting.figures.comparison import draw_slowdowns, draw_trade_off
from psm_sim.reporting.marks import marks_of
from psm_sim.reporting.style import distinct_styles, policy_style
from psm_sim.simulation import Comparison


def test_built_in_policies_differ_in_colour_or_marker() -> None:
    styles = [policy_style(name) for name in POLICIES.names()]
    assert len({(style.colour, style.marker) for style in styles}) == len(styles)


@pytest.mark.parametrize(
    "variants",
    [
        ["bsd:p=1", "bsd:p=0.5", "bsd:p=0.2", "bsd:p=0.1"],
        ["lpsm", "lpsm:loss=inverse", "lpsm:loss=inverse-log"],
        ["psm", "psm:listen_interval=3", "psm:listen_interval=10"],
        [f"dynamic:stack={name}" for name in ("linux", "esp-idf", "brcmfmac", "talaria", "cyw43")],
    ],
    ids=lambda variants: variants[0],
)
def test_variants_of_a_policy_share_the_colour_and_differ_in_the_marker(variants: list[str]) -> None:
    styles = [policy_style(variant) for variant in variants]
    assert {style.colour for style in styles} == {policy_style(variants[0].partition(":")[0]).colour}
    assert all(one.marker != other.marker for one, other in combinations(styles, 2))


def test_all_figures_of_a_comparison_have_the_same_style(replicated: Comparison) -> None:
    expected = {mark.label: mark.style for mark in marks_of(replicated)}
    containers = draw_trade_off(replicated).axes[0].containers
    marks = {item.get_label(): item.lines[0] for item in containers}
    lines = {line.get_label(): line for line in draw_slowdowns(replicated).axes[0].get_lines()}
    for name, style in expected.items():
        assert lines[name].get_color() == style.colour
        if name in marks:
            assert (marks[name].get_color(), marks[name].get_marker()) == (style.colour, style.marker)


@pytest.mark.parametrize(
    "variants",
    [
        [("lpsm", ""), ("lpsm", "hedge"), ("lpsm", "mine")],
        [("bsd:p=0.5", ""), ("bsd", ""), ("bsd:p=0.1", ""), ("anticipate", "")],
        [("psm", ""), ("psm", "phone"), ("twt", "")],
    ],
)
def test_the_variants_in_a_comparison_have_different_colours(variants: list[tuple[str, str]]) -> None:
    """The default variant has the colour of the policy, in any order."""
    styles = distinct_styles(variants)
    assert len({style.colour for style in styles}) == len(styles)
    assert styles[[policy for policy, _ in variants].index(plain := variants[1][0])] == policy_style(plain)


@pytest.mark.parametrize(
    "variants",
    [
        ("my.py:EveryThird", "lpsm", "anticipate"),
        ("twt", "my.py:lpsm", "psm", "lpsm:gamma=1e-5", "lpsm"),
        ("bsd:p=0.1", "my.py:Mine", "bsd:p=0.5", "other.py:Mine"),
    ],
)
def test_neither_order_nor_a_class_of_a_user_changes_the_style_of_a_built_in_policy(
    variants: tuple[str, ...],
) -> None:
    built_in = [variant for variant in variants if ".py" not in variant]
    expected = dict(zip(built_in, distinct_styles([(variant, "") for variant in built_in]), strict=True))
    for order in permutations(variants):
        styles = dict(zip(order, distinct_styles([(variant, "") for variant in order]), strict=True))
        assert styles.items() >= expected.items()
        for own in set(variants) - set(built_in):
            others = [style for variant, style in styles.items() if variant != own]
            assert styles[own].colour not in {style.colour for style in others}
            assert styles[own].marker not in {style.marker for style in others}


def test_a_built_in_policy_keeps_its_style_next_to_a_class_of_a_user() -> None:
    for name in POLICIES.names():
        assert distinct_styles([("my.py:EveryThird", ""), (name, "")])[1] == policy_style(name)

"""Counts in sentences of committed reports and documents, compared with the committed tables."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[4]
PLURALS = {"agrees": "agree", "open": "open", "undecided": "undecided", "differs": "differ"}


def numbers(report: str) -> dict[str, Any]:
    """Return the committed numbers of a report."""
    document: dict[str, Any] = json.loads(
        (ROOT / f"reports/{report}/numbers.json").read_text(encoding="utf-8")
    )
    return document


def text(document: str) -> str:
    """Return a committed document in one line."""
    return " ".join((ROOT / document).read_text(encoding="utf-8").split())


def table(report: str, study: str, number: int = 0) -> pd.DataFrame:
    """Return a committed table."""
    stored = numbers(report)["studies"][study]["tables"][number]
    return pd.DataFrame(stored["rows"], columns=stored["columns"])


def claims(report: str) -> pd.DataFrame:
    """Return the committed claims of all studies of a report."""
    studies = numbers(report)["studies"]
    return pd.DataFrame([{"study": name, **claim} for name in studies for claim in studies[name]["claims"]])


def of(verdicts: Iterable[str]) -> str:
    """Count the verdicts that agree."""
    verdicts = list(verdicts)
    return f"{sum(verdict == 'agrees' for verdict in verdicts)} of {len(verdicts)}"


def rows_agree(verdicts: Iterable[str]) -> str:
    """Count the rows by verdict."""
    verdicts = list(verdicts)
    rest = {"differs": "differ", "no fit": "no fit"}
    others = [f", {verdicts.count(name)} {plural}" for name, plural in rest.items() if name in verdicts]
    return f"{of(verdicts)} rows agree{''.join(others)}"


def by_verdict(verdicts: Iterable[str]) -> str:
    """Count the claims by verdict."""
    counts = Counter(verdicts)
    return ", ".join(f"{counts[name]} {plural}" for name, plural in PLURALS.items() if counts[name])


@pytest.mark.parametrize("report", ["reproduction", "learners", "field"])
def test_the_tallies_count_each_claim_once(report: str) -> None:
    """A tally is for a preset, a role and a verdict."""
    claims_ = claims(report)
    counts = claims_.groupby(["preset", "role", "verdict"]).size().to_dict()
    tallies = numbers(report)["tallies"]
    assert counts == {
        (preset, role, verdict): count
        for preset, roles in tallies.items()
        for role, verdicts in roles.items()
        for verdict, count in verdicts.items()
    }


def test_the_summary_of_the_reproduction_counts_its_claims() -> None:
    """The counts are of the headline preset, the quantities, the presets, and the table of tallies."""
    page, claims_ = text("reports/reproduction/README.md"), claims("reproduction")
    headline = claims_[claims_["preset"] == claims_["preset"][0]]
    sizes = headline["role"].value_counts()
    assert f"compared with {len(headline)} published numbers." in page
    assert f"{sizes['calibrates']} numbers calibrate the preset" in page
    assert f"{sizes['fitted']} influenced a choice, and {sizes['predicted']} are predictions." in page
    fitted, predicted = (headline[headline["role"] == role] for role in ("fitted", "predicted"))
    assert f"{of(fitted['verdict'])} fitted numbers and {of(predicted['verdict'])} predictions agree" in page
    beginning = page.partition("Agreement of the predictions by quantity: ")[2].partition(". Agreement")[0]
    counts = [group.rpartition("(")[2].rstrip(")") for group in beginning.split("; ")]
    assert counts == [of(group) for _, group in predicted.groupby("quantity", sort=False)["verdict"]]
    presets = [f"{name} ({of(group)})" for name, group in claims_.groupby("preset", sort=False)["verdict"]]
    assert f"Agreement of all numbers by preset: {', '.join(presets)}." in page
    for (preset, role), group in claims_.groupby(["preset", "role"]):
        assert f"| {preset} | {role} | {by_verdict(group['verdict'])} |" in page


def test_the_summary_of_the_learners_counts_its_claims() -> None:
    """Claims are counted by role, in all studies and in each."""
    page, claims_ = text("reports/learners/README.md"), claims("learners")
    assert f"**Tested.** {len(claims_)} claims in {claims_['study'].nunique()} studies" in page
    names = {"published": "published", "theorem": "theorems", "control": "controls"}
    for role, name in names.items():
        assert f"* {name}: {by_verdict(claims_.loc[claims_['role'] == role, 'verdict'])} " in page
    for study, own in claims_.groupby("study"):
        roles = [f"{role}: {by_verdict(own.loc[own['role'] == role, 'verdict'])}" for role in names]
        assert f"(#{study})" in page
        assert f"| {'; '.join(line for line in roles if not line.endswith(': '))} |" in page


def test_the_summary_of_listening_counts_its_verdicts() -> None:
    """All verdicts are counted, and those on each claim."""
    page, verdicts_ = text("reports/listening/README.md"), table("listening", "listening")
    counts = Counter(verdicts_["verdict"])
    assert (
        f"Of {len(verdicts_)} verdicts, {counts['agrees']} agree, {counts['open']} are open and"
        f" {counts['differs']} differ." in page
    )
    for claim, verdicts in verdicts_.groupby("claim")["verdict"]:
        cells = [str((verdicts == name).sum()) for name in ("agrees", "open", "differs")]
        assert f"| {claim} | {' | '.join(cells)} |" in page


def test_the_sentences_on_the_replay_have_the_counts_of_its_table() -> None:
    """The sentences are in the summary and in the section of the study."""
    counts = Counter(table("reproduction", "trace-study")["verdict"])
    sentence = (
        f"Verdicts on the {counts.total()} statements: {counts['holds']} hold,"
        f" {counts['does not hold']} do not hold, {counts['undecided']} undecided."
    )
    assert text("reports/reproduction/README.md").count(sentence) == 2


def test_the_factors_named_as_limits_of_lpsm_are_the_factors_in_the_table() -> None:
    """The sentence names each factor that closes more than half of the distance at some price."""
    page, factors = text("reports/what-limits-lpsm/README.md"), table("what-limits-lpsm", "what-limits-lpsm")
    alone = page.partition("No factor alone limits LPSM. Of ")[2].partition(", none closes")[0].split(", ")
    assert len(alone) > 1
    assert "more than half" not in set(factors.loc[factors["factor"].isin(alone), "verdict"])


def validation_sentences() -> dict[str, list[str]]:
    """Return the tallies of each study of measured hardware, and those that documents state."""
    sheets, profiles = table("validation", "data-sheet"), table("validation", "data-sheet", 1)
    all_sheets = [*sheets["verdict"], *profiles["verdict"]]
    other_sheets = [*sheets.loc[~sheets["chip"].str.startswith("ESP8266"), "verdict"], *profiles["verdict"]]
    dtim = table("validation", "dtim")
    is_light = dtim["mode"] == "light sleep"
    light, modem = dtim.loc[is_light, "verdict"], dtim.loc[~is_light, "verdict"]
    sentences = {
        "data-sheet": [
            f"Predicted: {rows_agree(all_sheets)}.",
            f"from the same numbers: {rows_agree(other_sheets)}.",
        ],
        "dtim": [
            f"Calibrated, in light sleep: {rows_agree(light)}.",
            f"Calibrated, in modem sleep: {rows_agree(modem)}.",
        ],
        "latency": [],
    }
    for study in ("duty-cycle", "ping"):
        sentences[study] = [f"Predicted: {rows_agree(table('validation', study)['verdict'])}."]
    for losses, name in {"in runs": "Losses in runs", "independent": "Independent losses"}.items():
        same, later = (table("validation", "latency", number) for number in (0, 1))
        same, later = (frame[frame["losses"] == losses] for frame in (same, later))
        p99 = same["p99, predicted"].tolist()
        following = [verdict for name in ("p50", "p90", "p99") for verdict in later[f"{name}, predicted"]]
        fitted = rows_agree(same["p50 and p90, fitted"])
        sentences["latency"].append(
            f"{name}, predicted: {rows_agree(p99 + following)} (p99 of the same hour: {rows_agree(p99)};"
            f" next hour: {rows_agree(following)}). Fitted, p50 and p90: {fitted}."
        )
    return sentences


def test_the_sentences_of_the_validation_have_the_counts_of_its_rows() -> None:
    """The sentences are in the summary, in the sections, and in the remarks of the studies."""
    page, studies = text("reports/validation/README.md"), numbers("validation")["studies"]
    for study, sentences in validation_sentences().items():
        remarks = " ".join(studies[study]["remarks"])
        assert all(sentence in remarks for sentence in sentences), study
        assert f"* [{study}](#{study}): {sentences[0]}" in page
        assert all(sentence in page.partition("## Studies")[2] for sentence in sentences), study


def test_the_documents_state_the_counts_of_the_reports() -> None:
    """The documents are README, the results and the page on devices."""
    claims_ = claims("reproduction")
    predicted = claims_[claims_["role"] == "predicted"].groupby("preset")["verdict"].apply(of)
    sheets = of(
        verdict for number in (0, 1) for verdict in table("validation", "data-sheet", number)["verdict"]
    )
    dtim = table("validation", "dtim")
    is_light = dtim["mode"] == "light sleep"
    light, modem = of(dtim.loc[is_light, "verdict"]), of(dtim.loc[~is_light, "verdict"])
    duty, ping = (of(table("validation", study)["verdict"]) for study in ("duty-cycle", "ping"))
    readme, results = map(text, ("README.md", "docs/results.md"))
    agree, rows = sheets.split(" of ")
    assert f"Of {rows} mean currents predicted from data sheets, {agree} agree within 5.5 %" in readme
    headline, plain = predicted["thesis-uniform"], predicted["plain"]
    assert f"{headline} agree under the preset `thesis-uniform`, and {plain} under `plain`" in readme
    for count, tolerance in ((sheets, 5.5), (light, 5.5), (modem, 5.5), (duty, 3.5), (ping, 25)):
        assert f"| {count} | {tolerance:g} % |" in results

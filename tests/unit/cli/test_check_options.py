"""What `stepscope check` is asked for, and what it refuses before anything runs; its report as text."""

from __future__ import annotations

import json
import math
import sys

import pytest

from stepscope.cli import main as cli
from stepscope.cli.check import Wish, wish
from stepscope.cli.place import Place
from stepscope.cli.report import Finding, Report, Training, document, summary, write
from stepscope.cli.report_html import page
from stepscope.core.advice.origin import SourceLine

BAD = {
    "a condition that there is not": (
        ["--watch", "tensor_huge"],
        "no condition 'tensor_huge'; there are operator_overflow",
    ),
    "no threshold": (["--watch", "TL"], "tensor_too_large needs a threshold"),
    "a wrong parameter": (["--watch", "TL:max_lt=1"], "tensor_too_large has no parameter 'max_lt'"),
    "a value that is no number": (["--watch", "TL:max_gt=high"], "max_gt must be a number"),
    "a value out of range": (["--watch", "TZ:zero_percentage_ge=101"], "from 0 to 100 %, not 101"),
    "no value": (["--watch", "TL:max_gt"], "'max_gt' in 'TL:max_gt' is not param=value"),
    "a parameter given twice": (["--watch", "TL:max_gt=1,max_gt=2"], "max_gt is given twice"),
    "a missing companion": (["--watch", "TR:range_percentage_lt=5"], "needs range_start_inclusive too"),
    "an empty pattern": (["--watch", "TO@"], "there is no PATTERN behind the @"),
    "no number of steps": (["--steps", "0"], "'0' is not a number of steps"),
    "another kind of report": (["--report", "hits.pdf"], "'hits.pdf' ends with neither .json nor .html"),
    "a report that can't be written": (["--report", "/no/such/folder/hits.json"], "can't be written"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_is_said_before_anything_runs(capsys, case: str):
    options, says = BAD[case]
    status = cli.main(["check", *options, "--", sys.executable, __file__])
    out, err = capsys.readouterr()
    assert (status, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "condition", "parameters", "pattern"),
    [
        ("tensor_overflow", "tensor_overflow", {}, ""),
        ("to", "tensor_overflow", {}, ""),
        ("WNC", "weight_not_changed", {"rtol": 1e-5}, ""),
        ("GV:abs_mean_lt=1e-9", "gradient_vanishing", {"abs_mean_lt": 1e-9}, ""),
        ("TL:max_gt=3, min_gt=-1", "tensor_too_large", {"max_gt": 3.0, "min_gt": -1.0}, ""),
        ("TO@*fc1*", "tensor_overflow", {}, "*fc1*"),
        ("TL:max_gt=3@a@b:c=d,e", "tensor_too_large", {"max_gt": 3.0}, "a@b:c=d,e"),
    ],
)
def test_what_a_watch_asks_for(text: str, condition: str, parameters: dict[str, float], pattern: str) -> None:
    assert wish(text) == Wish(text, condition, parameters, pattern)


def place(node: str, source: SourceLine | None = None) -> Place:
    return Place("graph", node, 0, "Op", source)


def finding(node: str, condition: str = "tensor_too_large", abbreviation: str = "TL", reasons=(), chain=()) -> Finding:
    params = [{"name": "max_gt", "value": 1.0, "hit": not reasons, "actual": None if reasons else 5.5}]
    here = place(node, SourceLine("/home/me/net.py", 7, "y = x + 1"))
    return Finding(3, here, condition, abbreviation, "", params, list(reasons), list(chain))


def report(*findings: Finding, found: int | None = None) -> Report:
    result = Report(["python", "train.py"])
    result.trainings.append(Training("train.py", "mindspore 2.10", 0, 1, 3, [], found or len(findings), list(findings)))
    result.end("hit", "a hit at step 3")
    return result


def test_updates_that_were_left_out_are_said() -> None:
    made = report(finding("node"))
    assert "gradient scaler" not in summary(made) + page(made)
    made.trainings[0].skipped_updates = 1
    assert "the gradient scaler left out the update of one step: gradients were not finite" in summary(made)
    made.trainings[0].skipped_updates = 3
    assert "The gradient scaler left out the updates of 3 steps: gradients were not finite." in page(made)
    assert document(made)["trainings"][0]["skipped_updates"] == 3


def test_the_summary_names_each_tensor_once() -> None:
    chain = [place("first"), place("middle"), place("b")]
    text = summary(
        report(
            finding("a"), finding("a", "tensor_overflow", "TO", ["the tensor contains NaN"]), finding("b", chain=chain)
        )
    )
    assert text.splitlines() == [
        "stepscope check: a hit at step 3",
        "",
        "  1. a, output 0",
        "     /home/me/net.py:7: y = x + 1",
        "     tensor_too_large: max_gt=1 (actual 5.5)",
        "     tensor_overflow: not evaluated: the tensor contains NaN",
        "",
        "  2. b, output 0",
        "     /home/me/net.py:7: y = x + 1",
        "     tensor_too_large: max_gt=1 (actual 5.5)",
        "     it begins at first, 2 nodes before",
    ]


def test_the_summary_is_short() -> None:
    text = summary(report(*(finding(f"node{number}") for number in range(30)), found=1000))
    assert text.count("output 0") == 10
    assert text.endswith("… and 990 more findings; --report FILE.html lists them")


def test_json_has_no_nan(tmp_path) -> None:
    made = report(finding("a"))
    made.trainings[0].findings[0].params[0] |= {"actual": math.nan, "value": -math.inf}
    write(made, tmp_path / "report.json")
    read = json.loads((tmp_path / "report.json").read_text(), parse_constant=pytest.fail)
    assert read["trainings"][0]["findings"][0]["params"][0] == {
        "name": "max_gt",
        "value": "-inf",
        "hit": True,
        "actual": "nan",
    }
    assert (read["format"], read["outcome"]) == (1, "hit")


def test_what_was_said_first_stays() -> None:
    made = Report(["x"])
    made.end("no_hit", "first")
    made.end("hit", "second")
    assert (made.outcome, made.message) == ("no_hit", "first")

"""The report of a check as one page that needs nothing else: no script, no font, no picture from anywhere."""

from __future__ import annotations

import shlex
import time
from html import escape

import stepscope
from stepscope.cli.place import Place
from stepscope.cli.report import Finding, Report, Training, skipped, values
from stepscope.core.watch.conditions import CONDITIONS

_TITLES = {
    "hit": "Hit",
    "not_evaluated": "Could not be evaluated",
    "no_hit": "No hit",
    "could_not_run": "Could not run",
}


def page(report: Report) -> str:
    started = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(report.started_at))
    facts = [
        ("Command", f"<code>{escape(shlex.join(report.command))}</code>"),
        ("Started", f"{started}, took {report.seconds:.1f} s"),
        ("stepscope", escape(stepscope.__version__)),
    ]
    return _PAGE.format(
        title=escape(f"stepscope check: {report.message}"),
        outcome=report.outcome,
        heading=_TITLES.get(report.outcome, report.outcome),
        message=escape(report.message),
        facts="".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in facts),
        trainings="".join(map(_training, report.trainings)),
    )


def _training(training: Training) -> str:
    more = training.found - len(training.findings)
    rows = "".join(
        f"<tr><td>{escape(one.condition)}</td><td>{escape(one.name)}</td><td>{_numbers(one.parameters)}</td>"
        f'<td class="number">{one.nodes}</td></tr>'
        for one in training.watchpoints
    )
    return (
        f"<section><h2>{escape(training.title)}</h2>"
        f"<p>{escape(training.framework)}, rank {training.rank}, {training.steps} steps</p>"
        + (f"<p>{escape(skipped(training).capitalize())}.</p>" if training.skipped_updates else "")
        + "".join(_finding(number, one) for number, one in enumerate(training.findings, 1))
        + (f"<p>… and {more} more.</p>" if more > 0 else "")
        + "<details><summary>Watchpoints</summary><table><thead><tr><th>Condition</th><th>Name</th><th>Set</th>"
        f"<th>Nodes</th></tr></thead><tbody>{rows}</tbody></table></details></section>"
    )


def _finding(number: int, finding: Finding) -> str:
    name = f" “{escape(finding.name)}”" if finding.name else ""
    if finding.reasons:
        said = f"<p class='not'>Could not be evaluated: {escape('; '.join(finding.reasons))}.</p>"
    else:
        rows = [f"<li{' class=met' if one['hit'] else ''}>{escape(values(one))}</li>" for one in finding.params]
        said = f"<ul class='values'>{''.join(rows)}</ul>"
    condition = CONDITIONS[finding.condition]
    return (
        f"<article class='{'error' if finding.reasons else 'hit'}'>"
        f"<h3><span>{number}</span> {escape(condition.name.en)}{name} <small>step {finding.step}</small></h3>"
        f"{_place(finding.place)}{said}{_chain(finding, opened=number == 1)}"
        f"<details><summary>What to look at</summary><ul>"
        f"{''.join(f'<li>{escape(one.en)}</li>' for one in condition.advice)}</ul></details></article>"
    )


def _chain(finding: Finding, opened: bool) -> str:
    if not finding.chain:
        return ""
    if len(finding.chain) == 1:
        return "<p>It begins here: no input is bad in the same way.</p>"
    rows = "".join(f"<li>{_place(one)}</li>" for one in finding.chain)
    title = f"Where it comes from: {len(finding.chain)} nodes"
    return f"<details{' open' if opened else ''}><summary>{title}</summary><ol>{rows}</ol></details>"


def _place(place: Place) -> str:
    where = f"<code class='node'>{escape(place.node)}</code> <small>{escape(place.op)}, output {place.slot}</small>"
    if place.source is None:
        return f"<div>{where}</div>"
    line = f"<small>{escape(place.source.file)}:{place.source.line}</small>"
    text = f"<pre>{escape(place.source.text)}</pre>" if place.source.text else ""
    return f"<div>{where}<br>{line}{text}</div>"


def _numbers(parameters: dict[str, float]) -> str:
    return escape(", ".join(f"{name}={value:g}" for name, value in parameters.items()))


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --back: #fff; --card: #f6f7f9; --line: #d5d9e0; --text: #1c2128; --dim: #59636e;
  --hit: #b42318; --error: #8a5a00; --good: #1a7f37; }}
@media (prefers-color-scheme: dark) {{ :root {{ --back: #14171c; --card: #1d2128; --line: #363c46; --text: #e6e9ee;
  --dim: #9aa4b1; --hit: #ff8a7d; --error: #e6b450; --good: #57c773; }} }}
body {{ margin: 0 auto; max-width: 62rem; padding: 1.5rem; background: var(--back); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif; }}
h1 {{ margin: 0 0 .25rem; font-size: 1.6rem; }}
h2 {{ margin: 2rem 0 0; font-size: 1.2rem; }}
h3 {{ margin: 0 0 .5rem; font-size: 1.05rem; }}
h3 span {{ color: var(--dim); }}
small, dt {{ color: var(--dim); }}
dl {{ display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; }}
dd {{ margin: 0; }}
code, pre {{ font: 13px/1.45 ui-monospace, monospace; overflow-wrap: anywhere; }}
pre {{ margin: .25rem 0; padding: .4rem .6rem; background: var(--back); border: 1px solid var(--line);
  border-radius: 4px; white-space: pre-wrap; }}
article {{ margin: 1rem 0; padding: .9rem 1.1rem; background: var(--card); border: 1px solid var(--line);
  border-left: 4px solid var(--hit); border-radius: 6px; }}
article.error {{ border-left-color: var(--error); }}
.hit > h1 {{ color: var(--hit); }}
.not_evaluated > h1, .could_not_run > h1, .not {{ color: var(--error); }}
.no_hit > h1 {{ color: var(--good); }}
.met {{ color: var(--hit); font-weight: 600; }}
.values {{ margin: .5rem 0; padding-left: 1.2rem; }}
ol {{ padding-left: 1.6rem; }}
li {{ margin: .3rem 0; }}
summary {{ cursor: pointer; color: var(--dim); }}
table {{ border-collapse: collapse; }}
th, td {{ padding: .2rem .8rem .2rem 0; text-align: left; border-bottom: 1px solid var(--line); }}
.number {{ text-align: right; }}
</style>
</head>
<body>
<header class="{outcome}"><h1>{heading}</h1><p>{message}</p><dl>{facts}</dl></header>
<main>{trainings}</main>
</body>
</html>
"""

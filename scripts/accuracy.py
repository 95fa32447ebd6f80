#!/usr/bin/env python3
"""Scores `ridge why` on labelled pairs of a slow and a fixed kernel, and writes the table into docs/diagnosis-accuracy.md.

usage: accuracy.py RIDGE FOLDER...

Each folder holds labels.jsonl and the reports that it names. The part of the page between the two `scores` comments is
replaced; the rest is written by hand.
"""
import json
import pathlib
import statistics
import subprocess
import sys

PAGE = pathlib.Path(__file__).parent.parent / "docs" / "diagnosis-accuracy.md"
BEGIN, END = "<!-- scores: written by scripts/accuracy.sh -->\n", "<!-- end of scores -->\n"


def diagnose(ridge, report):
    """The diagnosis of a report."""
    answer = subprocess.run(
        [ridge, "why", "--quiet", "--format", "json", report], capture_output=True, text=True, check=True
    )
    return json.loads(answer.stdout)


def kernel(diagnosis, name):
    return next(kernel for kernel in diagnosis["kernels"] if kernel["name"] == name)


def score(label, diagnosis):
    """One row of the table. A flaw that was not found has no rank, no expectation and no ceiling."""
    findings = kernel(diagnosis, label["slow"])["findings"]
    if label.get("scope") == "report":
        findings = diagnosis["report_findings"] + findings
    right = {label["label"], *label.get("accept", [])}
    rank = next((place for place, finding in enumerate(findings) if finding["id"] in right), None)
    row = {
        "case": label["case"],
        "label": label["label"],
        "first": findings[0]["id"] if findings else None,
        "rank": rank,
        "is_flaw": not label["label"].startswith("at-"),
        "real": 1 - label["fixed_us"] / label["slow_us"],
        "expected": None if rank is None else findings[rank]["saving_expected"],
        "ceiling": None if rank is None else findings[rank]["saving_ceiling"],
        "accused": False,
    }
    if label.get("fixed") and row["is_flaw"]:
        # Accused: the fixed kernel is promised more than 15 % and more than half of what the slow one was promised.
        floor = max(0.15, 0.5 * (row["expected"] or 0.0))
        after = kernel(diagnosis, label["fixed"])["findings"]
        row["accused"] = any(f["id"] == label["label"] and f["saving_expected"] > floor for f in after)
    return row


def summary(rows):
    flaws = [row for row in rows if row["is_flaw"]]
    excess = [row["ceiling"] - row["real"] for row in flaws if row["ceiling"] is not None]
    errors = [1.0 if row["expected"] is None else abs(row["expected"] - row["real"]) for row in flaws]
    holds = [row["ceiling"] is not None and row["ceiling"] + 0.02 >= row["real"] for row in flaws]
    return [
        ("pairs", str(len(rows))),
        ("labelled finding itself first", percent(statistics.mean(row["first"] == row["label"] for row in rows))),
        ("labelled or accepted finding first", percent(statistics.mean(row["rank"] == 0 for row in rows))),
        ("labelled or accepted finding among the first three", percent(statistics.mean(row["rank"] in (0, 1, 2) for row in rows))),
        ("ceiling holds (2 points allowed)", percent(statistics.mean(holds))),
        ("median of ceiling − real", points(statistics.median(excess))),
        ("median of \\|expected − real\\|", points(statistics.median(errors))),
        ("fixed kernels still accused", str(sum(row["accused"] for row in rows))),
    ]


def percent(fraction):
    return "–" if fraction is None else f"{100 * fraction:.0f} %"


def points(fraction):
    return f"{100 * fraction:.1f} points"


def section(title, rows):
    lines = [f"### {title}\n\n", "| measure | value |\n|---|--:|\n"]
    lines += [f"| {name} | {value} |\n" for name, value in summary(rows)]
    lines.append("\n| case | label | first finding | real | expected | ceiling |\n|---|---|---|--:|--:|--:|\n")
    for row in sorted(rows, key=lambda row: row["case"]):
        first = f"`{row['first']}`" if row["first"] else "none"
        if row["accused"]:
            first += " (fixed kernel still accused)"
        # A verdict saves nothing: what its kernel gains from another algorithm is no measure of it.
        numbers = (row["real"], row["expected"], row["ceiling"]) if row["is_flaw"] else (None, None, None)
        cells = " | ".join(percent(number) for number in numbers)
        lines.append(f"| {row['case']} | `{row['label']}` | {first} | {cells} |\n")
    return "".join(lines) + "\n"


def main():
    ridge, folders = sys.argv[1], sys.argv[2:]
    parts, everything = [], []
    for folder in map(pathlib.Path, folders):
        rows, diagnoses = [], {}
        for label in map(json.loads, (folder / "labels.jsonl").read_text().splitlines()):
            report = label["report"]
            if report not in diagnoses:
                diagnoses[report] = diagnose(ridge, folder / report)
            rows.append(score(label, diagnoses[report]))
        title = "Gallery" if folder.name == "gallery" else "Corpus"
        parts.append(section(title, rows))
        everything += rows
    if len(folders) > 1:
        lines = "".join(f"| {name} | {value} |\n" for name, value in summary(everything))
        parts.insert(0, f"### All pairs\n\n| measure | value |\n|---|--:|\n{lines}\n")
    head, rest = PAGE.read_text().split(BEGIN)
    tail = rest.split(END)[1]
    PAGE.write_text(head + BEGIN + "\n" + "".join(parts) + END + tail)
    worst = sorted((row for row in everything if row["is_flaw"]), key=lambda row: -abs((row["expected"] or -1) - row["real"]))
    for row in worst[:10]:
        print(row["case"], row["label"], percent(row["real"]), percent(row["expected"]), percent(row["ceiling"]))


if __name__ == "__main__":
    main()

"""Learns which groups of letters tell Czech from Slovak and writes them into the package.

    python scripts/learn_czech_slovak.py FOLDER

FOLDER holds `sentences`, `word-pairs` and `single-words`, each with `cs.txt` and `sk.txt`, one text
a line. Every fifth line is left out: tests measure on those. What customers write is learned from
`czech_slovak_mail.txt` beside this file, in both languages a line. Needs scikit-learn.
"""

import sys
import unicodedata
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from deskhand.language.czech_slovak import MOST_BEFORE, MOST_OF_ONE, groups_of
from deskhand.language.identify import identify, pair_evidence, words_of

TARGET = Path(__file__).parents[1] / "src" / "deskhand" / "language" / "czech_slovak.toml"
MAIL = Path(__file__).with_name("czech_slovak_mail.txt")
KINDS = {"sentences": 1.0, "word-pairs": 0.5, "single-words": 0.3}
ACCENTLESS = 0.5
LEFT_OUT = 5
RARE = 4
KEPT = 3000
BIAS = 0.5
"""Twice as many people write Czech."""
ALONE = {"czech": "ěřů", "slovak": "ĺľŕô"}
AT_LEAST = 150
"""Letters that only one of the two has say at least so much, however few texts held them."""
COMMENT = """\
# Groups of letters that Czech or Slovak has more of, by how much each says (in hundredths of log
# odds); `_` is the edge of a word. Learned by scripts/learn_czech_slovak.py from lingua's accuracy
# texts (Apache-2.0) and from sentences of customers.

"""


class Example(NamedTuple):
    groups: Counter[str]
    before: float
    czech: bool
    weight: float


def accentless(text: str) -> str:
    letters = unicodedata.normalize("NFD", text)
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def examples(folder: Path) -> list[Example]:
    found: list[Example] = []
    for kind, weight in KINDS.items():
        for code in ("cs", "sk"):
            lines = (folder / kind / f"{code}.txt").read_text("utf-8").splitlines()
            for number, line in enumerate(lines):
                if number % LEFT_OUT == 0 or is_foreign(kind, line):
                    continue
                found += both_ways(line, code == "cs", weight)
    for line in MAIL.read_text("utf-8").splitlines():
        czech, slovak = line.split("|")
        found += both_ways(czech, True, 1.0) + both_ways(slovak, False, 1.0)
    return found


def both_ways(line: str, czech: bool, weight: float) -> list[Example]:
    """A text as it is and typed without accents."""
    made: list[Example] = []
    for text, share in ((line, 1.0), (accentless(line), ACCENTLESS)):
        words = words_of(text)
        before = max(-MOST_BEFORE, min(MOST_BEFORE, pair_evidence(words)))
        made.append(Example(groups_of(words), before, czech, weight * share))
    return made


def is_foreign(kind: str, line: str) -> bool:
    """Whether a sentence under one of the two is in a third language; the texts hold some."""
    return kind == "sentences" and identify(line).code not in ("cs", "sk", None)


def fit(chosen: list[Example], groups: list[str]) -> Any:
    places = {group: place for place, group in enumerate(groups)}
    rows: list[int] = []
    columns: list[int] = []
    values: list[float] = []
    for row, example in enumerate(chosen):
        for group, count in example.groups.items():
            if group in places:
                rows.append(row)
                columns.append(places[group])
                values.append(min(count, MOST_OF_ONE))
        rows.append(row)
        columns.append(len(groups))
        values.append(example.before)
    matrix = csr_matrix((values, (rows, columns)), shape=(len(chosen), len(groups) + 1))
    labels = [example.czech for example in chosen]
    weights = [example.weight for example in chosen]
    model = LogisticRegression(C=0.15, max_iter=600, fit_intercept=False)
    return model.fit(matrix, labels, sample_weight=weights).coef_[0]


def main(folder: Path) -> None:
    chosen = examples(folder)
    frequency: Counter[str] = Counter()
    for example in chosen:
        frequency.update(example.groups.keys())
    common = sorted(group for group, count in frequency.items() if count >= RARE)
    says = np.abs(fit(chosen, common)[:-1])
    often = np.sqrt(np.array([frequency[group] for group in common]))
    kept = sorted(common[place] for place in np.argsort(-says * often)[:KEPT])
    learned = fit(chosen, kept)
    lines: dict[str, dict[int, list[str]]] = {
        "czech": defaultdict(list),
        "slovak": defaultdict(list),
    }
    for group, weight in zip(kept, learned[:-1], strict=True):
        rounded = round(abs(weight) * 50) * 2
        language = "czech" if weight > 0 else "slovak"
        if group in ALONE[language]:
            rounded = max(rounded, AT_LEAST)
        if rounded:
            lines[language][rounded].append(group)
    with TARGET.open("w", encoding="utf-8") as out:
        out.write(COMMENT)
        out.write(f"scale = {learned[-1]:.2f}\nbias = {BIAS}\n")
        for language, by_weight in lines.items():
            out.write(f"\n[{language}]\n")
            for weight in sorted(by_weight, reverse=True):
                out.write(f'{weight} = "{" ".join(by_weight[weight])}"\n')


if __name__ == "__main__":
    main(Path(sys.argv[1]))

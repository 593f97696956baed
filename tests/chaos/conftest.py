"""The games that the black box plays: seed by seed, each in all settings."""

from itertools import product

import pytest

SETTINGS = {0: "sqlite", 2: "two_workers", 4: "four_workers"}
"""By the number of workers; none of them is one process on SQLite."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "black_box_seed" in metafunc.fixturenames:
        seeds = range(metafunc.config.getoption("--seeds"))
        games = list(product(seeds, SETTINGS))
        names = [f"seed{seed}-{SETTINGS[workers]}" for seed, workers in games]
        metafunc.parametrize(("black_box_seed", "black_box_workers"), games, ids=names)

"""The seeds that the black box plays."""

import pytest


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "black_box_seed" in metafunc.fixturenames:
        seeds = range(metafunc.config.getoption("--seeds"))
        metafunc.parametrize("black_box_seed", seeds, ids=[f"seed{seed}" for seed in seeds])

import math

import pytest

from dard.core.student import student_quantile

# Two-sided critical values as printed in tables: {degrees of freedom: {probability: quantile}}.
TABLE = {
    1: {0.75: 1.000000, 0.9: 3.077684, 0.95: 6.313752, 0.975: 12.706205, 0.995: 63.656741},
    2: {0.75: 0.816497, 0.9: 1.885618, 0.95: 2.919986, 0.975: 4.302653, 0.995: 9.924843},
    3: {0.75: 0.764892, 0.9: 1.637744, 0.95: 2.353363, 0.975: 3.182446, 0.995: 5.840909},
    4: {0.9: 1.533206, 0.95: 2.131847, 0.975: 2.776445, 0.995: 4.604095},
    5: {0.9: 1.475884, 0.95: 2.015048, 0.975: 2.570582, 0.995: 4.032143},
    10: {0.9: 1.372184, 0.95: 1.812461, 0.975: 2.228139, 0.995: 3.169273},
    30: {0.9: 1.310415, 0.95: 1.697261, 0.975: 2.042272, 0.995: 2.749996},
    63: {0.975: 1.998341},
    120: {0.9: 1.288646, 0.95: 1.657651, 0.975: 1.979930, 0.995: 2.617421},
}
ROWS = [(f, p, t) for f, row in TABLE.items() for p, t in row.items()]


@pytest.mark.parametrize(("freedom", "probability", "quantile"), ROWS)
def test_quantiles_agree_with_tables(freedom, probability, quantile):
    assert student_quantile(probability, freedom) == pytest.approx(quantile, abs=1e-6)
    assert student_quantile(1 - probability, freedom) == pytest.approx(-quantile, abs=1e-6)


@pytest.mark.parametrize("probability", [0.6, 0.9, 0.99, 0.9999])
def test_one_and_two_degrees_of_freedom_have_closed_forms(probability):
    one = math.tan(math.pi * (probability - 0.5))
    two = (2 * probability - 1) / math.sqrt(2 * probability * (1 - probability))
    assert student_quantile(probability, 1) == pytest.approx(one, rel=1e-9)
    assert student_quantile(probability, 2) == pytest.approx(two, rel=1e-9)


def test_many_degrees_of_freedom_approach_the_normal_distribution():
    assert student_quantile(0.975, 10**5) == pytest.approx(1.959964, abs=3e-5)


@pytest.mark.parametrize("freedom", [1, 2, 7, 64])
def test_the_median_is_zero(freedom):
    assert abs(student_quantile(0.5, freedom)) < 1e-12


def test_quantiles_grow_with_probability_and_shrink_with_freedom():
    by_probability = [student_quantile(p / 100, 9) for p in range(50, 100)]
    by_freedom = [student_quantile(0.9, freedom) for freedom in range(1, 130)]
    assert by_probability == sorted(by_probability)
    assert by_freedom == sorted(by_freedom, reverse=True)


def test_without_freedom_there_is_no_quantile():
    assert math.isnan(student_quantile(0.975, 0))

"""How figures are printed."""

from bench import report


def test_a_core_that_was_shared_is_said() -> None:
    assert report.shared_core([{"core_share": 0.99}, {"missing": "not installed"}]) == []
    (warning,) = report.shared_core([{"core_share": 0.99}, {"core_share": 0.613}])
    assert "61%" in warning


def test_figures_are_short() -> None:
    assert report.rate({"median": 412_345.0, "min": 405_000.0, "max": 415_999.0}) == "412 k (405-416)"
    assert report.rate({"median": 1_234_567.0, "min": 1e6, "max": 2e6}) == "1.23 M (1.00-2.00)"
    assert report.rate(None) == "-"
    assert report.ratio({"median": 1.214, "min": 1.19, "max": 1.24}) == "1.21 (1.19-1.24)"
    assert report.seconds({"median": 2.3, "min": 2.25, "max": 2.4}) == "2.30 s (2.25-2.40)"


def test_units_begin_where_they_are_one() -> None:
    assert [report.short(x) for x in (1e6, 999_000.0, 1000.0, 999.0)] == ["1.00 M", "999 k", "1.00 k", "999"]
    assert [report.short(x) for x in (100.0, 99.9, 10.0, 9.99)] == ["100", "99.9", "10.0", "9.99"]
    assert [report.short(x) for x in (999_960.0, 999.96, 99.97, 9.997)] == ["1.00 M", "1.00 k", "100", "10.0"], "once rounded"

"""Metrics: which value of an upstream is set, and when."""

from signalbox.metrics.metrics import Metrics


def available(metrics: Metrics) -> float | None:
    """Return the gauge of the upstream."""
    return metrics.all.registry.get_sample_value("signalbox_upstream_available", {"upstream": "first"})


def test_only_a_new_check_of_an_upstream_is_set() -> None:
    """A worker that has sent no request since must not overwrite what another one has found."""
    metrics = Metrics(models=(), only_upstream="default", version="1", is_embedded=True)
    metrics.show_upstreams({"first": (True, None)})
    assert available(metrics) == 1
    metrics.show_upstreams({"first": (False, 10.0)})
    assert available(metrics) == 0
    metrics.all.breakers.labels("first").set(7)
    metrics.show_upstreams({"first": (False, 10.0)})
    assert available(metrics) == 7
    metrics.show_upstreams({"first": (False, 20.0)})
    assert available(metrics) == 0
    metrics.show_upstreams({})
    assert available(metrics) is None
    metrics.show_upstreams({"first": (False, 20.0)})
    assert available(metrics) == 0

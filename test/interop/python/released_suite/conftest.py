"""Which of the package's tests are run, and which of them cannot pass."""

import pytest

# Parameters that are settings of their server and cannot be told through a URL: the same test over again.
SETTINGS = {"evaluation": True, "backend": "megatron_worker", "dialect": "compaction"}

# Test, which of its cases, and why they must not pass here.
DIFFERENCES = [
    (
        "test_synthetic_completion_leaves_call_uncommitted",
        {"trigger": "overflow"},
        "a context overflow is a 400 that agents compact on, settled as refused: no empty answer, no failure row",
    ),
    (
        "test_synthetic_completion_leaves_call_uncommitted",
        {"trigger": "reasoning_guard"},
        "no guard answers in the place of the model",
    ),
    (
        "test_worker_completion_without_coordinates_still_fails_closed",
        {},
        "one failure row for one failed call, without a second one of a general reason",
    ),
    (
        "test_two_call_continuation_from_served_sse",
        {"tool_call": True, "dialect": "responses"},
        "the namespace `functions` is none: Codex puts its ordinary tools there and dispatches them by their bare names",
    ),
]


def matches(params, wanted):
    return all(params.get(name) == value for name, value in wanted.items())


def pytest_collection_modifyitems(items):
    items[:] = [item for item in items if not any(matches(item.callspec.params, {name: value}) for name, value in SETTINGS.items())]
    for item in items:
        for test, wanted, reason in DIFFERENCES:
            if item.originalname == test and matches(item.callspec.params, wanted):
                item.add_marker(pytest.mark.xfail(strict=True, raises=(AssertionError, KeyError), reason=reason))

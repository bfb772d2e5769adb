"""The tools and texts of the scripted tasks: the same as in ../sdk/tools.ts and ../sdk/task.ts. The wording of numbers is Python's."""

INSTRUCTIONS = "You look things up and add numbers."
SUMMARIZER = "You summarize conversations."
SUMMARIZE_NOW = "Summarize what happened so far."


def summary_message(summary: str) -> str:
    return f"What happened so far: {summary}"


def lookup(limit: float, path: str) -> str:
    """Looks a file up."""
    return f"found {path} up to {limit:g}"


def add(a: float, b: float) -> str:
    """Adds two numbers."""
    return f"the sum is {a + b:g}"


def fragile(reason: str) -> str:
    """May break."""
    raise ValueError(f"it broke: {reason}")


def ping() -> str:
    """Says pong."""
    return "pong"


TOOLS = [lookup, add, fragile, ping]

PHOTO_DATA = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PHOTO_TYPE = "image/png"

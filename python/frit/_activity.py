"""_activity.py: whether Frit stands for NumPy just now."""

installed = False  # by install()
suspended = 0  # how many blocks of suspended() are open


def is_active() -> bool:
    """Whether install() is in force, and nobody has suspended it."""
    return installed and not suspended

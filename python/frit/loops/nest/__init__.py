"""frit.loops.nest: the translation of a nest: its text and the kinds of its values -> a kernel."""

"""frit.loops.run: a place at work: what its names stand for at a call, whether it pays, plans."""

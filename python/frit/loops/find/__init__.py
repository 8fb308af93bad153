"""frit.loops.find: which loops of a program may be nests, and its code with places for them."""

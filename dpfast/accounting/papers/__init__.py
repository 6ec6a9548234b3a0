"""Calibrations by the papers: the constants that each learner's theorem asks for."""

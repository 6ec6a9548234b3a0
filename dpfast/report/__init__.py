"""What people look at: the terms of an additive model, pictures, and one self-contained page for any model.

Everything here is computed from what a model released; nothing looks at rows.
"""

from dpfast.learners.showing import PairTerm, Term, code_columns, found_lines, summary, terms

from .page import claim_in_words, page, write

__all__ = ["PairTerm", "Term", "claim_in_words", "code_columns", "found_lines", "page", "summary", "terms", "write"]

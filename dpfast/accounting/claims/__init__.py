"""Costs, their composition, the bill of a fit, and the claim that it makes."""

"""How an undeclared table becomes codes: the survey, its looks, and the facts that follow from them."""

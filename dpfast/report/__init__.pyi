from .additive import PairTerm as PairTerm
from .additive import Term as Term
from .additive import code_columns as code_columns
from .additive import terms as terms
from .html import claim_in_words as claim_in_words
from .html import page as page
from .html import write as write

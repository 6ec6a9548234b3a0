"""The base classes of scikit-learn, which has no types: for type checkers, an estimator has any attribute.

A base of an unknown type would make any parameter of a constructor valid.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:

    class BaseEstimator:
        def __getattr__(self, name: str) -> Any: ...

    class CallbackSupportMixin: ...

    class ClassifierMixin: ...

    class TransformerMixin: ...

    def with_callbacks(method: Any) -> Any: ...

else:
    from sklearn.base import BaseEstimator as BaseEstimator
    from sklearn.base import ClassifierMixin as ClassifierMixin
    from sklearn.base import TransformerMixin as TransformerMixin

    try:
        from sklearn.callback import CallbackSupportMixin, with_callbacks
    except ImportError:  # scikit-learn before 1.9

        class CallbackSupportMixin:
            """Empty replacement for the mixin of scikit-learn."""

        def with_callbacks(method):
            return method

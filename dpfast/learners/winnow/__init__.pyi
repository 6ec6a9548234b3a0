from .classifier import DPWinnowClassifier as DPWinnowClassifier
from .confident import WinnowClassifier as WinnowClassifier
from .point_stream import make_point_stream as make_point_stream

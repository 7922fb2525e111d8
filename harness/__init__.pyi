from harness.api import compare as compare
from harness.api import load as load

__version__: str

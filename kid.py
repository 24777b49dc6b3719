import subprocess
from shop import f
subprocess.run(["true"])
assert f(1) == 3

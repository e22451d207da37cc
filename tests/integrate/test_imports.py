"""What a run imports: the method and the parts that it has, no others."""

import subprocess
import sys

FREE_FLIGHT = """
import sys
import polhode as ph
ph.simulate(ph.Body(1.0, (1, 2, 3)), ph.State(angular_velocity_body=(1, 2, 3)), method={method!r}, duration=1.0{more})
print([name for name in sys.modules if name.startswith({unused!r})])
"""
UNUSED = (
    "polhode.integrate.contact",
    "polhode.integrate.taylor",
    "polhode.integrate.gpu_steps",
    "polhode.integrate.loops.kernel_program",
    "polhode.integrate.loops.cuda",
    "polhode.ir.targets.gpu",
)


def test_a_free_flight_imports_neither_contacts_nor_other_engines():
    for method, more in (("rk4", ", step=0.1"), ("dop853", ""), ("exact", "")):
        code = FREE_FLIGHT.format(method=method, more=more, unused=UNUSED)
        found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert found.stdout.strip() == "[]", method

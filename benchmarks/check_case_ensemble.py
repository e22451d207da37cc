"""NASA's check case 3, a tumbling brick with aerodynamic damping, for 10,000 members: time for each, beside JSBSim.

python -m benchmarks.check_case_ensemble.  JSBSim (`pip install jsbsim`) has the same equations: J2 gravity, the
rotating ellipsoid, US Standard Atmosphere 1976 and damping; it takes fixed steps, by default 120 a second.  Without it
SciPy's DOP853 is the peer, on a right-hand side that Polhode's laws evaluate in plain Python.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import polhode as ph

CASE = Path(__file__).parents[1] / "examples" / "nesc" / "case-03.toml"
MEMBERS = 10_000
DURATION = 30.0
MODEL = """<?xml version="1.0"?>
<fdm_config name="brick" version="2.0" release="BETA">
  <metrics>
    <wingarea unit="FT2">0.22222</wingarea><wingspan unit="FT">0.33333</wingspan><chord unit="FT">0.66667</chord>
    <location name="AERORP" unit="IN"><x>0</x><y>0</y><z>0</z></location>
    <location name="EYEPOINT" unit="IN"><x>0</x><y>0</y><z>0</z></location>
    <location name="VRP" unit="IN"><x>0</x><y>0</y><z>0</z></location>
  </metrics>
  <mass_balance>
    <ixx unit="SLUG*FT2">0.001894220</ixx><iyy unit="SLUG*FT2">0.006211019</iyy><izz unit="SLUG*FT2">0.007194665</izz>
    <emptywt unit="LBS">5.0</emptywt>
    <location name="CG" unit="IN"><x>0</x><y>0</y><z>0</z></location>
  </mass_balance>
  <ground_reactions/><propulsion/><flight_control name="none"/>
  <aerodynamics>
    <axis name="ROLL"><function name="aero/Clp"><product>
      <property>aero/qbar-psf</property><property>metrics/Sw-sqft</property><property>metrics/bw-ft</property>
      <property>aero/bi2vel</property><property>velocities/p-aero-rad_sec</property><value>-1</value>
    </product></function></axis>
    <axis name="PITCH"><function name="aero/Cmq"><product>
      <property>aero/qbar-psf</property><property>metrics/Sw-sqft</property><property>metrics/cbarw-ft</property>
      <property>aero/ci2vel</property><property>velocities/q-aero-rad_sec</property><value>-1</value>
    </product></function></axis>
    <axis name="YAW"><function name="aero/Cnr"><product>
      <property>aero/qbar-psf</property><property>metrics/Sw-sqft</property><property>metrics/bw-ft</property>
      <property>aero/bi2vel</property><property>velocities/r-aero-rad_sec</property><value>-1</value>
    </product></function></axis>
  </aerodynamics>
</fdm_config>
"""


def build_members(count: int) -> ph.Scenario:
    """Case 3 with rates that differ by a tenth from member to member."""
    case = ph.Scenario.from_toml(CASE)
    start = case.states[0]
    rates = start.angular_velocity_body * (1 + 0.1 * np.random.default_rng(0).normal(size=(count, 3)))
    many = start.replace(angular_velocity_body=rates)
    return replace(case, state=many, output_step=None, output_times=[DURATION])


def time_polhode(count: int) -> float:
    """Seconds for each member, after the first run."""
    scenario = build_members(count)
    ph.ensemble(scenario)
    began = perf_counter()
    ph.ensemble(scenario)
    return (perf_counter() - began) / count


def time_scipy() -> float:
    """Seconds for one member by DOP853 on the same laws in plain Python."""
    from scipy.integrate import solve_ivp

    case = ph.Scenario.from_toml(CASE)
    y = case.states[0].to_array(case.bodies[0])
    began = perf_counter()
    solve_ivp(case.derivative, (0.0, DURATION), y, "DOP853", rtol=1e-9, atol=1e-9)
    return perf_counter() - began


def time_jsbsim(steps_per_second: int = 120) -> tuple[float, float]:
    """Seconds for one member, and the height that it ends at in m, to see that it is the same fall."""
    import jsbsim

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "aircraft" / "brick").mkdir(parents=True)
        (Path(folder) / "aircraft" / "brick" / "brick.xml").write_text(MODEL, encoding="utf-8")
        fdm: Any = jsbsim.FGFDMExec(folder)
        fdm.set_debug_level(0)
        fdm.set_aircraft_path("aircraft")
        fdm.load_model("brick")
        fdm.set_dt(1 / steps_per_second)
        fdm["simulation/gravity-model"] = 1
        for name, value in (("h-sl-ft", 30000.0), ("lat-geod-deg", 0.0), ("long-gc-deg", 0.0)):
            fdm[f"ic/{name}"] = value
        for name, value in zip("pqr", np.radians((10.0, 20.0, 30.0)), strict=True):
            fdm[f"ic/{name}-rad_sec"] = float(value)
        fdm.run_ic()
        began = perf_counter()
        for _ in range(round(DURATION * steps_per_second)):
            fdm.run()
        return perf_counter() - began, 0.3048 * float(fdm["position/h-sl-ft"])


def main() -> None:
    """Print the times."""
    ours = time_polhode(MEMBERS)
    print(f"polhode, {MEMBERS} members, rtol 1e-9: {1e6 * ours:.0f} us for each")
    scipy = time_scipy()
    print(f"SciPy DOP853, plain Python, rtol 1e-9: {1e3 * scipy:.0f} ms, {scipy / ours:.0f} times as long")
    if find_spec("jsbsim") is None:
        print("JSBSim is not installed: pip install jsbsim")
        return
    seconds, height = time_jsbsim()
    print(f"JSBSim, 120 steps/s: {1e3 * seconds:.0f} ms, {seconds / ours:.0f} times as long, ends at {height:.2f} m")


if __name__ == "__main__":
    main()

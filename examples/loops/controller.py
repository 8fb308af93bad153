"""controller.py: an inverted pendulum and its controller, as objects; bisection for a gain.

Source: K. J. Aström, R. M. Murray, "Feedback Systems", Princeton (2008), chapters 5 and 10.
Units: SI.
"""

import argparse
import functools
import math
import time


class Controller:
    """Proportional, integral and differential; `most` limits what it gives, if it is not None."""

    def __init__(self, gain, integral, differential, most=None):
        self.gain, self.integral, self.differential = gain, integral, differential
        self.most = most
        self.sum = 0.0
        self.last = None

    def update(self, error, step):
        self.sum += error * step
        change = 0.0 if self.last is None else (error - self.last) / step
        self.last = error
        force = self.gain * error + self.integral * self.sum + self.differential * change
        if self.most is not None and abs(force) > self.most:
            force = math.copysign(self.most, force)
        return force


class Pendulum:
    def __init__(self, length, friction, disturbance):
        self.length, self.friction, self.disturbance = length, friction, disturbance

    def slope(self, angle, speed, force, t):
        pull = 9.81 / self.length * math.sin(angle)
        return speed, pull - self.friction * speed - force + self.disturbance(t)


class Simulation:
    def __init__(self, plant, controller, step):
        self.plant, self.controller, self.step = plant, controller, step

    def run(self, angle, steps):
        """The angle at the end, the greatest one, and when it first was below a milliradian."""
        speed, t, most = 0.0, 0.0, angle
        calm = None
        update, slope = self.controller.update, self.plant.slope
        for _ in range(steps):
            force = update(angle, self.step)
            angle, speed = rk4(slope, angle, speed, force, t, self.step)
            t += self.step
            most = max(most, abs(angle))
            if calm is None and abs(angle) < 1e-3:
                calm = t
        return angle, most, calm


def rk4(slope, angle, speed, force, t, step):
    half = 0.5 * step
    a1, s1 = slope(angle, speed, force, t)
    a2, s2 = slope(angle + half * a1, speed + half * s1, force, t + half)
    a3, s3 = slope(angle + half * a2, speed + half * s2, force, t + half)
    a4, s4 = slope(angle + step * a3, speed + step * s3, force, t + step)
    sixth = step / 6
    return angle + sixth * (a1 + 2 * a2 + 2 * a3 + a4), speed + sixth * (s1 + 2 * s2 + 2 * s3 + s4)


def wind(t, strength, period):
    return strength * math.sin(2 * math.pi * t / period)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=60_000)
    options = parser.parse_args()
    start = time.perf_counter()

    def simulated(gain, most=None):
        plant = Pendulum(0.6, 0.1, functools.partial(wind, strength=0.05, period=3.0))
        controller = Controller(gain, 4.0, 5.0, most)
        return Simulation(plant, controller, 1e-3).run(0.3, options.steps)

    for gain in (20.0, 30.0, 45.0):
        for most in (None, 8.0):
            angle, largest, calm = simulated(gain, most)
            when = "never" if calm is None else f"{calm:.3f} s"
            print(f"gain {gain:4.1f}, limit {most}: {angle:+.9f}, at most {largest:.6f}, {when}")
    low, high = 5.0, 30.0  # it falls over, and does not
    for _ in range(12):
        gain = 0.5 * (low + high)
        low, high = (low, gain) if simulated(gain)[1] < 0.5 else (gain, high)
    print(f"it stands from a gain of {high:.4f} on")
    print(f"seconds: {time.perf_counter() - start:.2f}")


if __name__ == "__main__":
    main()

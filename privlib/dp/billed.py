"""What every mechanism says of itself: its bill for idealized noise, and its bill under a given source."""

from __future__ import annotations

from abc import ABC, abstractmethod

from privlib.dp.guarantees import Guarantee
from privlib.dp.noise import NoiseSource, Simulation


class Billed(ABC):
    """A mechanism that states one guarantee, whatever source it draws from; only the assumptions differ."""

    @property
    def guarantee(self) -> Guarantee:
        """The bill of exact draws and continuous noise, with "idealized numerics" among its assumptions."""
        return self._guarantee(Simulation.assumptions)

    def guarantee_under(self, noise: NoiseSource) -> Guarantee:
        """The bill of a release through `noise`, with that source's assumptions; never above the one stated."""
        return self._guarantee(noise.assumptions)

    @abstractmethod
    def _guarantee(self, assumptions: tuple[str, ...]) -> Guarantee: ...

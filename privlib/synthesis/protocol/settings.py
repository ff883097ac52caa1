"""The public settings of a run, what follows from them and from the released counts, and the bill."""

from __future__ import annotations

import functools
import hashlib
import math
from dataclasses import dataclass, fields

import numpy as np

from privlib.dp import ZCDP, Guarantee, NoiseSource, checks, largest_rho
from privlib.synthesis.buckets import GRID_BITS, AnchoredBuckets, JLBuckets, on_grid
from privlib.synthesis.calibration import InfeasibleBudget, sampling
from privlib.synthesis.protocol import noise as users_noise
from privlib.synthesis.protocol.dummies import LARGEST_SHIFT, expected_dummies, reports_delta
from privlib.synthesis.protocol.messages import LARGEST_VECTOR, SESSION_BYTES
from privlib.synthesis.protocol.shares import LARGEST_MODULUS
from privlib.synthesis.protocol.vectors import Rotation, grid_sensitivity

_ROUNDING_SHARE = 16  # steps a rotated difference holds for each unit of sqrt(size): rounding costs at most 1/16 of it
_WRAP_BITS = 60  # a sum leaves its range with probability at most 2^-60, all entries of all buckets together
_FARTHEST = 1 << 16
"""Diameters from the origin to the end of a vector, at most. Adding the origin, rotating (at most 16 sums an entry) and
dividing by the step round by at most 42 x 2^-53 of the length for two vectors: 4e-10 of a diameter here, and
`grid_sensitivity` adds 1e-9."""
_MOST_PLACES = (1 << 16) - 1  # the length of a request is written in two bytes
_MOST_USERS = 1 << 24  # a plan adds up a term for each member of the largest bucket
_MOST_DUMMIES = 1 << 22  # the tagging server holds all with their boxes, in one record of its log: 0.7 GB
ASSUMPTIONS = (
    "every party follows the protocol",
    "every user holds one record",
    "tagging and synthesis server do not collude",
    "channel hides senders",
    "pseudorandomness of the tags (RFC 9497, ristretto255)",
    "drop-outs do not depend on the data",
)


@dataclass(frozen=True)
class Plan:
    """What everybody computes from the released counts before a vector is sent; post-processing of the counts.

    `step` of the grid, `modulus` of the shares, `bound` on every entry of a sum in steps (modulus >= 4 bound),
    `user_stds` and `needed` contributors by released tag, `total_std` S in steps, `l2_sensitivity` in steps.
    """

    step: float
    modulus: int
    bound: int
    user_stds: tuple[float, ...]
    needed: tuple[int, ...]
    total_std: float
    l2_sensitivity: float


@dataclass(frozen=True, eq=False)
class Settings:
    """Public parameters that every party starts from.

    `buckets` (AnchoredBuckets or JLBuckets); `rate` p in (0, 1] and `threshold` tau as in `CentroidRelease`;
    `report_epsilon`, at which the report phase is billed (`reports_delta`); `centroid_epsilon` and `centroid_delta` of
    the noisy sums, for any data: two members of a bucket are at most `buckets.diameter` apart; `max_users`
    registered users, public; `dummy_shift` s and `dummy_scale` (`dummies`), s tau (tau - 1) being the most reports that
    the tagging server may have to make up and hold, 2^22 at most, and s at most 2^20; `noise_rule` "count_scaled" or
    "constant" (`noise`; "off" only to show that nothing else is lost); `drop_out` in [0, 1): the share of a bucket's
    reporters that may stay away in the second phase; a bucket that loses more is not opened; `bucket_cap`: in how many
    buckets one user may report, one record in each; `public_seed` of the rotation.
    Raises TypeError or ValueError on anything else, and on what cannot be run or billed: `buckets` of more than 65536
    dimensions, or so far from the origin beside their diameter that floating point adds to it; sums beyond the shares'
    modulus; more than 65535 places or 2^24 users. InfeasibleBudget when `report_epsilon` is less than sampling costs.
    """

    buckets: AnchoredBuckets | JLBuckets
    rate: float
    threshold: int
    report_epsilon: float
    centroid_epsilon: float
    centroid_delta: float
    max_users: int
    dummy_shift: int
    dummy_scale: float
    noise_rule: str = "count_scaled"
    drop_out: float = 0.0
    bucket_cap: int = 1
    public_seed: int = 0

    def __post_init__(self) -> None:
        sampling(self.rate, self.threshold)
        checks.positive("report_epsilon", self.report_epsilon)
        checks.positive("centroid_epsilon", self.centroid_epsilon)
        checks.open_probability("centroid_delta", self.centroid_delta)
        checks.whole("max_users", self.max_users, at_least=1)
        checks.whole("dummy_shift", self.dummy_shift, at_least=1)
        checks.positive("dummy_scale", self.dummy_scale)
        checks.one_of("noise_rule", self.noise_rule, users_noise.RULES)
        if checks.probability("drop_out", self.drop_out) == 1:
            raise ValueError("drop_out must be below 1: somebody has to stay")
        checks.whole("bucket_cap", self.bucket_cap, at_least=1)
        checks.whole("public_seed", self.public_seed, at_least=0)
        self._check_sizes()
        self._check_bill()

    def _check_sizes(self) -> None:
        """Refuses what does not fit messages, floating point or the shares' modulus."""
        for name, most in (("bucket_cap", _MOST_PLACES), ("max_users", _MOST_USERS)):
            if getattr(self, name) > most:
                raise ValueError(f"{name} must be at most {most}, got {getattr(self, name)}")
        if self.dummy_shift > LARGEST_SHIFT or 2 * expected_dummies(self.threshold, self.dummy_shift) > _MOST_DUMMIES:
            raise ValueError(
                f"dummy_shift must be at most {LARGEST_SHIFT}, and dummy_shift tau (tau - 1) dummies at most "
                f"{_MOST_DUMMIES}: got {self.dummy_shift} at threshold {self.threshold}"
            )
        if self.buckets.dimension > LARGEST_VECTOR:
            raise ValueError(f"buckets must have at most {LARGEST_VECTOR} dimensions, got {self.buckets.dimension}")
        if not self.longest <= _FARTHEST * self.buckets.diameter:
            raise ValueError(
                f"buckets must lie within {_FARTHEST} diameters of the origin, where floating point keeps their "
                f"members together: got length {self.longest:.6g}, diameter {self.buckets.diameter:.6g}"
            )

    def _check_bill(self) -> None:
        """Refuses what has no bill, or no plan for the largest bucket that there can be."""
        if self.rate < 1 and self.report_epsilon < -math.log1p(-self.rate):
            raise InfeasibleBudget(
                "rate", f"sampling at {self.rate!r} costs {-math.log1p(-self.rate):.6g} of report_epsilon "
                f"{self.report_epsilon!r}",
            )  # fmt: skip
        self._reports_delta()  # raises for a threshold or dummies that cannot be billed
        bits = self.plan((self.max_users,)).modulus.bit_length() - 1
        if bits > LARGEST_MODULUS.bit_length() - 2:  # more released buckets take another bit at most
            raise ValueError(
                f"max_users, centroid_epsilon or the lengths of buckets must be smaller: sums of {self.max_users} "
                f"users need shares modulo 2^{bits}, one bit below 2^62 at most"
            )

    def _reports_delta(self) -> float:
        if self.rate == 1:
            return 1.0
        return reports_delta(self.report_epsilon, self.rate, self.threshold, self.dummy_shift, self.dummy_scale)

    @functools.cached_property
    def session(self) -> bytes:
        """Digest of all public settings: a message of other settings is refused, one of another run of these is not."""
        hashed = hashlib.sha256()
        for record in (self, self.buckets):
            for entry in fields(record):
                value = getattr(record, entry.name)
                if entry.name != "buckets":
                    data = value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode()
                    hashed.update(f"{entry.name} {len(data)} ".encode() + data)
        return hashed.digest()[:SESSION_BYTES]

    @functools.cached_property
    def rotation(self) -> Rotation:
        return Rotation(self.buckets.dimension, self.public_seed)

    @property
    def longest(self) -> float:
        """No vector that a user sends is longer."""
        if isinstance(self.buckets, JLBuckets):
            return self.buckets.max_norm
        return float(np.linalg.norm(self.buckets.anchors, axis=1).max()) + self.buckets.radius

    def places(self, records: np.ndarray) -> tuple[list[bytes], np.ndarray]:
        """Bucket of each record, as the bytes that are tagged, and its clipped vector, float64[n, d].

        Cut as in `CentroidRelease`: the offset from the bucket's public origin is clipped, the origin added again, so
        nobody has to know which bucket a tag stands for. Members of a bucket differ by at most `buckets.diameter`.
        """
        cells = self.buckets.assign(records)
        origins = self.buckets.origins(cells)
        norm = self.buckets.clip_norm
        offsets = on_grid(np.asarray(records, dtype=np.float64) - origins, norm) * (norm / 2**GRID_BITS)
        return [cell.astype(">i8").tobytes() for cell in cells], origins + offsets

    def plan(self, counts: tuple[int, ...]) -> Plan:
        """Grid, modulus and noise for buckets with these released counts, each at least the threshold."""
        return _plan(self, counts)

    def centroid_epsilons(self, counts: tuple[int, ...], known: int = 0) -> tuple[float, ...]:
        """Epsilon at `centroid_delta` that each released bucket's sum is billed, rounded up, with the fewest who may
        contribute; `known` >= 0: against someone who knows the noise of so many of them (1: a member of the bucket).

        At most `centroid_epsilon` for known = 0. Constant noise spends less than that in buckets above the threshold.
        Infinite where all noise is known.
        """
        known, plan = checks.whole("known", known, at_least=0), self.plan(counts)
        billed = []
        for count, std, needed in zip(counts, plan.user_stds, plan.needed, strict=True):
            if std == 0 or needed <= known:
                billed.append(math.inf)
                continue
            epsilon = users_noise.summed_epsilon(
                needed - known, std, plan.l2_sensitivity, self.rotation.size, max(count, needed)
            )
            billed.append(ZCDP(epsilon**2 / 2, "record", "replace").epsilon(self.centroid_delta))
        return tuple(billed)

    @property
    def guarantee(self) -> Guarantee:
        """What the synthesis server's whole transcript, hence everything published, tells of one record.

        Given the reported counts, neighbours couple so that one member of a bucket is another one (`composed_noise_
        multiplier`): the sums cost (centroid_epsilon, centroid_delta) beside the reports' bill, and basic composition
        joins them. The tagging server's transcript tells less: heavy tags, counts, and who stayed, without a sum. A
        member of a bucket knows its own part of the noise: `centroid_epsilons(counts, known=1)`. Users of several
        records: `several`. What the channel sees (who took part in which phase) is not covered.
        Relation: replace_with_null; a user without a record asks for tags and reports none. Unit: record.
        """
        reports = Guarantee(
            self.report_epsilon, self._reports_delta(), "record", "replace_with_null", ASSUMPTIONS,
            ("reports with dummies",),
        )  # fmt: skip
        spent = (math.inf, 1.0) if self.noise_rule == "off" else (self.centroid_epsilon, self.centroid_delta)
        return reports.compose(Guarantee(*spent, "record", "replace_with_null", (), ("sums of users' noise",)))

    def guarantee_under(self, noise: NoiseSource) -> Guarantee:
        """The same, with the assumptions of the source that all parties draw from."""
        stated = self.guarantee
        return Guarantee(
            stated.epsilon, stated.delta, stated.unit, stated.relation,
            (*stated.assumptions, *noise.assumptions), stated.composed,
        )  # fmt: skip


@functools.lru_cache(maxsize=8)  # users of one process ask for the same plan
def _plan(settings: Settings, counts: tuple[int, ...]) -> Plan:
    size, largest = settings.rotation.size, max(counts, default=settings.threshold)
    enough = math.sqrt(2 * largest_rho(settings.centroid_epsilon, settings.centroid_delta))
    steps = max(_ROUNDING_SHARE * math.sqrt(size), users_noise.SMALLEST_USER_STD * math.sqrt(largest) * enough)
    step = settings.buckets.diameter / steps
    sensitivity = grid_sensitivity(settings.buckets.diameter, step, size)
    fewest = users_noise.contributors_needed(largest, settings.drop_out)
    total = users_noise.total_std(
        settings.centroid_epsilon, settings.centroid_delta, fewest, largest, sensitivity, size
    )
    stds = tuple(
        users_noise.user_std(settings.noise_rule, total, count, settings.threshold, settings.drop_out)
        for count in counts
    )
    widest = max((math.sqrt(count) * std for count, std in zip(counts, stds, strict=True)), default=0.0)
    # discrete Gaussians are subgaussian with their parameter, so is their sum
    reach = widest * math.sqrt(2 * (math.log(2 * size * max(1, len(counts))) + _WRAP_BITS * math.log(2)))
    bound = math.ceil(largest * (settings.longest / step + 1) + reach)
    return Plan(
        step=step,
        modulus=1 << (4 * bound - 1).bit_length(),
        bound=bound,
        user_stds=stds,
        needed=tuple(users_noise.contributors_needed(count, settings.drop_out) for count in counts),
        total_std=total,
        l2_sensitivity=sensitivity,
    )

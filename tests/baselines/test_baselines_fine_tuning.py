"""DP fine-tuning: Poisson batches, clipped gradients, noise of the bill's size in every step, one ledger."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from privlib.baselines import DPFineTuning
from privlib.baselines.fine_tuning import noise_multiplier, sampled_epsilon
from privlib.dp import Secure, Simulation
from privlib.dp.budget import Counted


@dataclass
class Toy:
    """Gradient of a text: the numbers in it. Keeps every step it was told to make."""

    size: int = 3
    steps: list = field(default_factory=list)
    batches: list = field(default_factory=list)

    def gradients(self, texts):
        self.batches.append(len(texts))
        return np.array([[float(part) for part in text.split()] for text in texts])

    def step(self, gradient):
        self.steps.append(gradient)

    def sample(self, count, seed):
        return ["fine", " "] * (count // 2)


class Spy(Simulation):
    """Keeps sums before and after noise, and the coins of every batch."""

    seen: dict

    def child(self, name):
        child = Spy([len(self.seen["sums"]), len(self.seen["coins"]), *name.encode()])
        child.seen = self.seen
        return child

    def bernoulli(self, probability, size):
        coins = super().bernoulli(probability, size)
        self.seen["coins"].append((probability, np.array(coins)))
        return coins

    def add_gaussian(self, values, std):
        noisy = super().add_gaussian(values, std)
        self.seen["sums"].append((np.array(values), noisy, std))
        return noisy


def mechanism(toy: Toy | None = None, **changes) -> DPFineTuning:
    settings = dict(epsilon=2.0, delta=1e-5, rate=0.25, epochs=3, expected_records=40, clip_norm=2.0, samples=4)
    session = Toy() if toy is None else toy
    return DPFineTuning(**dict(learner=lambda seed: session) | settings | changes)


def spied(release: DPFineTuning, private):
    spy = Spy(1)
    spy.seen = {"sums": [], "coins": []}
    return release.release(private, spy), spy.seen


SMALL = ["0.3 0 0", "0 0.1 0", "0 0 -0.2"] * 10


@pytest.mark.parametrize(("rate", "epochs", "steps"), [(0.25, 3, 12), (0.3, 2, 7), (1.0, 1, 1)])
def test_steps_noisy_sums_and_the_ledger_are_one_number(rate, epochs, steps):
    toy, source = Toy(), Counted(Simulation(3))
    release = mechanism(toy, rate=rate, epochs=epochs)
    out = release.release(SMALL, source)
    assert source.draws["add_gaussian"] == source.draws["bernoulli"] == steps
    assert len(out.ledger) == len(toy.steps) == release.steps == steps
    assert all(line.draws == (("add_gaussian", 1),) for line in out.ledger)
    assert f"{steps} steps" in out.guarantee.composed[0]
    assert (out.guarantee.epsilon, out.guarantee.delta, out.guarantee.relation) == (2.0, 1e-5, "add_drop")
    assert release.bill(steps + 1, Simulation(0), 3).epsilon > 2.0


def one_step_delta(z: float, q: float, epsilon: float) -> float:
    """Hockey-stick of one sampled step by integration, the worse of both directions."""

    def over(first, second):
        return quad(lambda x: max(first(x) - math.exp(epsilon) * second(x), 0.0), -12 * z, 12 * z + 1, limit=800)[0]

    def without(x):
        return norm.pdf(x, 0, z)

    def within(x):
        return (1 - q) * norm.pdf(x, 0, z) + q * norm.pdf(x, 1, z)

    return max(over(within, without), over(without, within))


@pytest.mark.parametrize(("z", "q"), [(0.8, 0.2), (1.5, 0.5), (1.0, 1.0)])
def test_one_step_by_integration(z, q):
    epsilon = sampled_epsilon(z, 1e-3, q, 1)
    assert one_step_delta(z, q, epsilon) <= 1e-3 * (1 + 1e-6)
    assert one_step_delta(z, q, epsilon - 0.01) > 0.98e-3  # and not far above


def test_the_multiplier_spends_the_budget_and_not_more():
    z = noise_multiplier(2.0, 1e-5, 0.25, 12)
    assert sampled_epsilon(z, 1e-5, 0.25, 12) <= 2.0 < sampled_epsilon(z * 0.99, 1e-5, 0.25, 12)
    assert noise_multiplier(2.0, 1e-5, 0.25, 24) > z > noise_multiplier(2.0, 1e-5, 0.125, 12)
    assert sampled_epsilon(0.01, 1e-5, 0.25, 12) == math.inf


def test_noise_has_the_bills_size_whatever_the_batch():
    """Batches of 0 to 60 records; noise is z C on each, fresh every time. Bound on its deviation: alarm below 1e-6."""
    z = noise_multiplier(2.0, 1e-5, 0.25, 400)
    noises = []
    for private in ([], SMALL, SMALL * 2):
        out, seen = spied(mechanism(epochs=100), private)
        assert {std for _, _, std in seen["sums"]} == {out.ledger[0].noise_std}
        assert out.ledger[0].noise_std == pytest.approx(2.0 * z, rel=1e-12)
        noise = np.array([noisy - total for total, noisy, _ in seen["sums"]])
        assert len(np.unique(noise)) == noise.size == 1200
        noises.append(np.std(noise))
    np.testing.assert_allclose(noises, 2.0 * z, rtol=5.2 / math.sqrt(2 * 1200))


def test_a_record_moves_a_sum_by_the_clip_norm_at_most():
    """rate 1: every record is in the batch. Huge, small, non-finite and tilted gradients."""
    base = spied(mechanism(rate=1.0, epochs=1), SMALL)[1]["sums"][0][0]
    reached = []
    for extra in ("1e30 0 0", "3 4 0", "0.6 0.8 0", "-50 50 7", "1e300 1e300 -1e300"):
        moved = spied(mechanism(rate=1.0, epochs=1), [*SMALL, extra])[1]["sums"][0][0] - base
        assert np.linalg.norm(moved) <= 2.0
        reached.append(np.linalg.norm(moved))
    assert reached[0] == pytest.approx(2.0, rel=1e-4)
    assert reached[2] == pytest.approx(1.0, rel=1e-4)  # below the norm nothing is cut
    for bad in ("nan 0 0", "inf 0 0"):
        np.testing.assert_array_equal(spied(mechanism(rate=1.0, epochs=1), [*SMALL, bad])[1]["sums"][0][0], base)


def test_every_text_is_clipped_before_the_sum():
    """Twenty equal gradients of norm 10 sum to 20 C; one clip of the whole sum would leave C."""
    total = spied(mechanism(rate=1.0, epochs=1), ["10 0 0"] * 20)[1]["sums"][0][0]
    assert total == pytest.approx([40.0, 0, 0], rel=1e-4)


def test_batches_are_poisson():
    """Sizes of 400 batches of 60 records at rate 1/4: mean 15, variance 11.25; a fixed size has variance 0.

    Bounds at 5 standard deviations of mean and variance: false alarm below 1e-6 each.
    """
    seen = spied(mechanism(epochs=100), SMALL * 2)[1]["coins"]
    coins = np.array([coin for _, coin in seen])
    assert {probability for probability, _ in seen} == {0.25}
    assert coins.shape == (400, 60)
    sizes = coins.sum(axis=1)
    assert abs(sizes.mean() - 15) < 5 * math.sqrt(11.25 / 400)
    assert abs(sizes.var(ddof=1) - 11.25) < 5 * 11.25 * math.sqrt(2 / 399)
    assert len({coin.tobytes() for coin in coins}) == 400  # no batch is drawn twice, no epoch is a shuffle


def test_a_step_divides_by_the_public_batch_and_never_by_the_one_at_hand():
    toy = Toy()
    seen = spied(mechanism(toy), SMALL)[1]["sums"]
    for (_, noisy, _), step in zip(seen, toy.steps, strict=True):
        np.testing.assert_allclose(step * 0.25 * 40, noisy)
    assert len(set(toy.batches)) > 1


def test_no_record_at_all_costs_the_same_and_says_the_same():
    out = mechanism().release([], Simulation(1))
    assert len(out.ledger) == 12
    assert out.guarantee == mechanism().release(SMALL, Simulation(1)).guarantee
    assert (out.texts, out.dropped) == (("fine", "fine"), 2)


@pytest.mark.parametrize("noise", [Simulation(1), Secure()], ids=["simulation", "secure"])
def test_what_a_learner_assumes_is_listed_with_the_rest(noise):
    class Taught:
        assumptions = ("its own texts are public",)

        def __call__(self, seed):
            return Toy()

    plain, taught = mechanism(), mechanism(learner=Taught())
    rest = (*noise.assumptions, "gradients computed record by record")
    assert plain.release(SMALL, noise).guarantee.assumptions == rest
    assert taught.release(SMALL, noise).guarantee.assumptions == (*rest, *Taught.assumptions)
    assert set(taught.guarantee.assumptions) - set(plain.guarantee.assumptions) == set(Taught.assumptions)


@pytest.mark.parametrize("assumed", ["public texts", None, (5,)])
def test_assumptions_of_a_learner_are_texts(assumed):
    class Taught(Toy):
        assumptions = assumed

        def __call__(self, seed):
            return Toy()

    with pytest.raises(TypeError, match=r"learner\.assumptions must be a sequence of str"):
        mechanism(learner=Taught())


def test_secure_is_billed_by_its_own_map_without_amplification():
    release = mechanism(epochs=1, rate=0.5)
    out = release.release(SMALL[:6], Secure())
    assert out.kind == "secure"
    assert 1.9 < out.guarantee.epsilon <= 2.0
    assert out.ledger[0].noise_std > release.noise_std(Simulation(0), 3)
    with pytest.raises(ValueError, match="simulation"):
        release.guarantee_under(Secure())


def test_arguments_and_private_data_are_checked():
    wrong = dict(epsilon=0, delta=1, rate=0, epochs=0, expected_records=0, clip_norm=0, samples=0)
    for name, bad in wrong.items():
        with pytest.raises(ValueError, match=name):
            mechanism(**{name: bad})
    with pytest.raises(TypeError, match="str"):
        mechanism().release("0 0 0", Simulation(1))
    assert not {"texts", "private", "records"} & {f.name for f in dataclasses.fields(DPFineTuning)}

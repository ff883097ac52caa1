"""Mutation run: known ways to break the library, each of which a named test must notice.

    .venv/bin/python tests/mutants.py [name ...]

The library and its tests are copied to a temporary folder, one text is changed in the copy, and the test that has to
kill the mutant runs there. Exit status 1 when a mutant survives, when a text to change is not found exactly once, or
when a named test does not pass on the copy as it is. The checkout is only read.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COPIED = ("privlib", "tests", "pyproject.toml")
WORKERS = 2


@dataclass(frozen=True)
class Mutant:
    """In `file`, `before` (found exactly once) becomes `after`; the test `killer` (a node id) must then fail."""

    name: str
    file: str
    before: str
    after: str
    killer: str


ADDITIVE = "tests/proofs/test_dp_additive.py::"
MUTANTS = (
    Mutant(
        "laplace: released noise x 0.7",
        "privlib/dp/mechanisms.py",
        "return noise.add_laplace(private, self.noise_scale(noise))",
        "return noise.add_laplace(private, 0.7 * self.noise_scale(noise))",
        ADDITIVE + "test_released_noise_has_the_billed_scale_on_every_coordinate[laplace]",
    ),
    Mutant(
        "gaussian: released noise x 0.7",
        "privlib/dp/mechanisms.py",
        "return noise.add_gaussian(private, self.noise_std(noise))",
        "return noise.add_gaussian(private, 0.7 * self.noise_std(noise))",
        ADDITIVE + "test_released_noise_has_the_billed_scale_on_every_coordinate[gaussian]",
    ),
    Mutant(
        "laplace: calibrated scale x 0.7",
        "privlib/dp/noise.py",
        "return checks.round_up(Fraction(l1_sensitivity) / Fraction(epsilon))",
        "return 0.7 * checks.round_up(Fraction(l1_sensitivity) / Fraction(epsilon))",
        "tests/dp/test_known_bugs.py::test_opendp_314_scales_are_rounded_up_for_odd_products",
    ),
    Mutant(
        "gaussian: calibrated deviation x 0.7",
        "privlib/dp/gaussian.py",
        'return _noise_std(epsilon, delta, checks.positive("l2_sensitivity", l2_sensitivity))',
        'return 0.7 * _noise_std(epsilon, delta, checks.positive("l2_sensitivity", l2_sensitivity))',
        "tests/dp/test_known_bugs.py::test_smartnoise_sdk_462_textbook_gaussian_is_beaten_above_epsilon_1",
    ),
    Mutant(
        "laplace: first coordinate bare",
        "privlib/dp/mechanisms.py",
        "return noise.add_laplace(private, self.noise_scale(noise))",
        "noisy = noise.add_laplace(private, self.noise_scale(noise)); noisy.flat[0] = private.flat[0]; return noisy",
        "tests/dp/test_mechanisms.py::test_every_coordinate_is_noised[simulation-laplace]",
    ),
    Mutant(
        "gaussian: last coordinate bare",
        "privlib/dp/mechanisms.py",
        "return noise.add_gaussian(private, self.noise_std(noise))",
        "noisy = noise.add_gaussian(private, self.noise_std(noise)); noisy.flat[-1] = private.flat[-1]; return noisy",
        "tests/dp/test_mechanisms.py::test_every_coordinate_is_noised[simulation-gaussian]",
    ),
    Mutant(
        "sample and threshold: strict for non-strict",
        "privlib/dp/threshold.py",
        "heavy = counts >= self.threshold",
        "heavy = counts > self.threshold",
        "tests/proofs/test_dp_threshold.py::test_the_code_keeps_to_its_bill_and_attains_it",
    ),
    Mutant(
        "sample and threshold: one below the threshold published",
        "privlib/dp/threshold.py",
        "heavy = counts >= self.threshold",
        "heavy = counts >= self.threshold - 1",
        "tests/proofs/test_dp_threshold.py::test_the_code_keeps_to_its_bill_and_attains_it",
    ),
    Mutant(
        "synthesis: strict for non-strict threshold",
        "privlib/synthesis/centroids.py",
        "heavy = np.flatnonzero(counts >= threshold)",
        "heavy = np.flatnonzero(counts > threshold)",
        "tests/synthesis/test_release_edges.py::test_a_bucket_is_released_from_the_threshold_on",
    ),
    Mutant(
        "plans: sensitivity of the other relation",
        "privlib/plans/sensitivity.py",
        'if relation == "add_drop":',
        'if relation == "replace":',
        "tests/proofs/test_plans_sensitivity.py::test_the_table_is_attained_by_explicit_pairs",
    ),
    Mutant(
        "plans: replacing billed like dropping",
        "privlib/plans/sensitivity.py",
        "return Sensitivity(2 * bound,",
        "return Sensitivity(bound,",
        "tests/proofs/test_plans_sensitivity.py::test_record_replace",
    ),
    Mutant(
        "simulation: one stream for all children of a name",
        "privlib/dp/noise.py",
        "count = self._children[name]",
        "count = 0",
        "tests/dp/test_noise.py::test_no_stream_is_handed_out_twice",
    ),
    Mutant(
        "simulation: one stream for children of all names",
        "privlib/dp/noise.py",
        'f"{name}#{count}".encode()',
        'f"#{count}".encode()',
        "tests/dp/test_noise.py::test_no_stream_is_handed_out_twice",
    ),
    Mutant(
        "synthesis: one draw shared by all buckets",
        "privlib/synthesis/centroids.py",
        'noisy = noise.child("sums").add_gaussian(sums, std)',
        'noisy = sums + noise.child("sums").add_gaussian(np.zeros(self.buckets.dimension), std)',
        "tests/synthesis/test_release_edges.py::test_no_two_numbers_of_a_release_share_a_draw",
    ),
    Mutant(
        "synthesis: clipped copy unused",
        "privlib/synthesis/buckets.py",
        "rows *= (2**bits / norm / np.maximum(np.sqrt(squares) / promised, 1.0))[:, None]",
        "rows / np.maximum(np.sqrt(squares) / promised, 1.0)[:, None]; rows *= 2**bits / norm",
        "tests/synthesis/test_release_edges.py::test_one_record_weighs_at_most_the_clip_norm[3.0]",
    ),
    Mutant(
        "synthesis: a user's records billed as one",
        "privlib/synthesis/users.py",
        "joint_noise_multiplier_for_user(*public) * self.buckets.diameter",
        "joint_noise_multiplier_for_user(*public[:-1], 1) * self.buckets.diameter",
        "tests/synthesis/test_synthesis_users.py::"
        "test_more_records_in_a_bucket_cost_more_noise_and_one_costs_what_a_record_costs",
    ),
    Mutant(
        "baselines: one more round of votes than billed for",
        "privlib/baselines/aug_pe.py",
        "for _ in range(self.iterations):",
        "for _ in range(self.iterations + 1):",
        "tests/baselines/test_baselines_aug_pe.py::test_iterations_noisy_rounds_and_the_ledger_are_one_number[2]",
    ),
    Mutant(
        "baselines: the bucket of one is free",
        "privlib/baselines/central.py",
        "if shown > self.delta:",
        "if shown > 1:",
        "tests/baselines/test_baselines_central.py::"
        "test_the_bucket_of_one_can_cost_more_than_the_gaussian_and_is_then_refused",
    ),
    Mutant(
        "plans: clipped copy unused",
        "privlib/plans/sketch.py",
        "sums.data = clip_rows(sums, contribution_bound)",
        "clip_rows(sums, contribution_bound)",
        "tests/plans/test_sketch.py::test_user_sketch_clips_each_user",
    ),
    Mutant(
        "exponential rounds: one more drawn than billed",
        "privlib/dp/selection_rules.py",
        "return _round_down(Fraction(self.epsilon) / self.rounds)",
        "return _round_down(Fraction(self.epsilon) / max(1, self.rounds - 1))",
        "tests/proofs/test_dp_exponential.py::test_hockey_stick_at_the_bill_is_zero",
    ),
    Mutant(
        "exponential rounds: monotone factor for scores that move both ways",
        "privlib/dp/selection_rules.py",
        "factor = 1 if self.monotone else 2",
        "factor = 1",
        "tests/proofs/test_dp_exponential.py::test_hockey_stick_at_the_bill_is_zero",
    ),
    Mutant(
        "permute-and-flip: billed as bounded range",
        "privlib/dp/selection_rules.py",
        "rho_divisor = 2",
        "rho_divisor = 8",
        "tests/proofs/test_dp_selection.py::test_renyi_divergence_keeps_to_the_zcdp_bill[False-1-PermuteAndFlip]",
    ),
    Mutant(
        "discrete gaussian: released noise x 0.7",
        "privlib/dp/discrete_gaussian.py",
        'checks.private_integers("private", private, self.shape), self.noise_std)',
        'checks.private_integers("private", private, self.shape), 0.7 * self.noise_std)',
        "tests/dp/test_discrete_gaussian.py::test_every_entry_is_noised_with_the_full_deviation[simulation]",
    ),
    Mutant(
        "randomized response: last answer bare",
        "privlib/dp/randomized_response.py",
        "return (answers + noise.categorical(self.step_probabilities, answers.shape)) % self.categories",
        "steps = noise.categorical(self.step_probabilities, answers.shape); steps.flat[-1] = 0; "
        "return (answers + steps) % self.categories",
        "tests/dp/test_randomized_response.py::test_opendp_2707_every_entry_is_noised_and_lengths_must_match[simulation]",
    ),
    Mutant(
        "mechanisms: a secure release billed as idealized",
        "privlib/dp/billed.py",
        "return self._guarantee(noise.assumptions)",
        "return self._guarantee(Simulation.assumptions)",
        "tests/dp/test_mechanisms.py::test_under_secure_the_bill_is_no_higher_and_nothing_is_idealized[LaplaceMechanism]",
    ),
    Mutant(
        "parallel composition: the smallest bill instead of the largest",
        "privlib/dp/accounting.py",
        "max(bill.epsilon for bill in bills)",
        "min(bill.epsilon for bill in bills)",
        "tests/dp/test_accounting.py::test_parallel_composition_by_enumeration",
    ),
    Mutant(
        "budget: one per cent over the limit still fits",
        "privlib/dp/budget.py",
        "return total <= limit * (1 + ROUNDING)",
        "return total <= limit * 1.01",
        "tests/dp/test_budget.py::test_decimal_fractions_fit_and_a_billionth_more_does_not",
    ),
    Mutant(
        "audit: event counted on the samples that chose it",
        "privlib/dp/audit.py",
        "rest = [(halves[k][1][:, column]",
        "rest = [(halves[k][0][:, column]",
        "tests/dp/test_audit.py::test_an_event_is_counted_on_the_samples_that_did_not_choose_it",
    ),
)


def copy_of_checkout(folder: Path) -> None:
    """What the tests need, without compiled files, so that nothing stale is run."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)


def apply(mutant: Mutant, folder: Path) -> None:
    """Change the one text in the copy; ValueError when it is not there exactly once."""
    path = folder / mutant.file
    text = path.read_text(encoding="utf-8")
    if (found := text.count(mutant.before)) != 1:
        raise ValueError(f"{mutant.name}: expected the text once in {mutant.file}, found it {found} times")
    path.write_text(text.replace(mutant.before, mutant.after), encoding="utf-8")


def pytest(folder: Path, nodes: list[str]) -> subprocess.CompletedProcess:
    """Run `nodes` in the copy. Its own folder comes first on the path, before an installed privlib."""
    environment = os.environ | {
        "PYTHONPATH": str(folder),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    code = (
        "import privlib, pytest, sys\n"
        f"assert privlib.__file__.startswith({str(folder)!r}), privlib.__file__\n"
        "sys.exit(pytest.main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", code, "-p", "no:cacheprovider", "--tb=line", *nodes]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def verdict(mutant: Mutant) -> str:
    """ "killed", or what went wrong instead. A test that cannot even run kills nothing (only exit status 1 counts)."""
    with tempfile.TemporaryDirectory(prefix="privlib-mutant-") as name:
        folder = Path(name).resolve()
        copy_of_checkout(folder)
        try:
            apply(mutant, folder)
        except ValueError as error:
            return str(error)
        run = pytest(folder, [mutant.killer])
    if run.returncode == 1 and " failed" in run.stdout:
        return "killed"
    return "SURVIVED" if run.returncode == 0 else f"could not run (status {run.returncode}): {run.stdout}{run.stderr}"


def unmutated(mutants: tuple[Mutant, ...]) -> str:
    """ "" when every named test passes on the copy as it is, else what pytest said."""
    with tempfile.TemporaryDirectory(prefix="privlib-mutant-") as name:
        folder = Path(name).resolve()
        copy_of_checkout(folder)
        run = pytest(folder, sorted({mutant.killer for mutant in mutants}))
    return "" if run.returncode == 0 else run.stdout + run.stderr


def main(names: list[str], mutants: tuple[Mutant, ...] = MUTANTS) -> int:
    chosen = tuple(mutant for mutant in mutants if not names or mutant.name in names)
    if not chosen or set(names) - {mutant.name for mutant in mutants}:
        print(f"no such mutant among: {', '.join(mutant.name for mutant in mutants)}", file=sys.stderr)
        return 2
    start = time.monotonic()
    if said := unmutated(chosen):
        print(f"a named test fails without any mutation:\n{said}", file=sys.stderr)
        return 1
    with ThreadPoolExecutor(WORKERS) as pool:
        verdicts = list(pool.map(verdict, chosen))
    for mutant, said in zip(chosen, verdicts, strict=True):
        print(f"{said}: {mutant.name} ({mutant.killer})")
    killed = verdicts.count("killed")
    print(f"{killed} of {len(chosen)} mutants killed in {time.monotonic() - start:.0f} s")
    return 0 if killed == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The middle of synthesis without a curator: users, two servers that do not collude, an anonymous channel.

Parties exchange bytes only (`messages`); what each one saw is its transcript, and the privacy claim
(`Settings.guarantee`) is about it. `run_in_processes` runs everything, `run_here` without processes; the group of the
pseudorandom function needs `rbcl`, imported when used. `python -m privlib.synthesis.protocol` measures a run at size.

Phases: tags (`oprf`), sampled reports with dummies (`dummies`), release of heavy tags, noisy vectors (`vectors`,
`noise`) in additive shares (`shares`), sums opened once, centroids published all together. What users send is sealed
to its server (`sealing`). `costs` weighs and times it all, `voting` is what it is compared with.
"""

from __future__ import annotations

from privlib.synthesis.protocol.dummies import dummy_shift, pair_delta, reports_delta
from privlib.synthesis.protocol.noise import summed_epsilon, summed_zcdp
from privlib.synthesis.protocol.processes import Processes, run_here, run_in_processes
from privlib.synthesis.protocol.run import Outcome, drive
from privlib.synthesis.protocol.server import transcript
from privlib.synthesis.protocol.settings import Plan, Settings
from privlib.synthesis.protocol.voting import VotingRounds

__all__ = [
    "Outcome",
    "Plan",
    "Processes",
    "Settings",
    "VotingRounds",
    "drive",
    "dummy_shift",
    "pair_delta",
    "reports_delta",
    "run_here",
    "run_in_processes",
    "summed_epsilon",
    "summed_zcdp",
    "transcript",
]

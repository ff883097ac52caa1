"""The parties as processes: each is started afresh, holds its own secrets, and is spoken to in bytes over a pipe."""

from __future__ import annotations

import multiprocessing
import struct
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import numpy as np

from privlib.dp import NoiseSource, Secure, Simulation
from privlib.synthesis.buckets import private_embeddings
from privlib.synthesis.protocol.channel import Channel
from privlib.synthesis.protocol.hosts import UserHost, user_address
from privlib.synthesis.protocol.messages import TAGGING
from privlib.synthesis.protocol.run import Outcome, Progress, drive
from privlib.synthesis.protocol.settings import Settings
from privlib.synthesis.protocol.summing import SynthesisServer
from privlib.synthesis.protocol.tagging import TaggingServer
from privlib.synthesis.protocol.users import User

_RECEIVE, _BEGIN, _ACCEPT, _FLUSH, _BACK, _FAILED = b"R", b"B", b"A", b"F", b"K", b"E"
_RESTARTS = 3  # in a row, for one frame


class PartyFailed(RuntimeError):
    """A party raised an error, or was lost and cannot be started again."""


class ProcessParty:
    """A party in a process of its own. One with a log (`restartable`) is started again when it is lost, and given the
    frame again that it had not answered."""

    def __init__(self, role: str, arguments: tuple, *, restartable: bool) -> None:
        self._role, self._arguments, self._restartable = role, arguments, restartable
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, self._role, self._arguments), daemon=True)
        self.process.start()
        theirs.close()
        self._greeting: list[bytes] | None = None

    def greeting(self) -> list[bytes]:
        """What the party says once it is ready; only then is it waited for, so that several start at once."""
        if self._greeting is None:
            self._greeting = _answers(self._pipe.recv_bytes())
        return self._greeting

    def _ask(self, question: bytes) -> list[bytes]:
        for _ in range(_RESTARTS):
            try:
                self.greeting()
                self._pipe.send_bytes(question)
                return _answers(self._pipe.recv_bytes())
            except (EOFError, OSError):
                if not self._restartable:
                    break
                self.stop()
                self._start()
        raise PartyFailed(f"the {self._role} process was lost")

    def receive(self, data: bytes) -> list[bytes]:
        return self._ask(_RECEIVE + data)

    def begin(self) -> list[bytes]:
        return self._ask(_BEGIN)

    def accept(self, data: bytes) -> None:
        self._ask(_ACCEPT + data)

    def flush(self) -> list[bytes]:
        return self._ask(_FLUSH)

    def back(self, data: bytes) -> bytes:
        return self._ask(_BACK + data)[0]

    def stop(self) -> None:
        self._pipe.close()
        self.process.kill()
        self.process.join()


class Processes:
    """All parties of a run as processes, from here until `close`: both servers, the channel, and hosts of users.

    `records`: one float[n, d] for each user; users are dealt to `hosts` processes (one each when there are as many).
    `directory` holds the servers' logs, `tagging.log` and `synthesis.log`. `seed` of a simulation, or None: system
    entropy in every party. Public settings and each host's own records are copied to it when it starts.
    """

    def __init__(
        self, settings: Settings, records: Sequence[np.ndarray], directory: Path, seed: int | None, hosts: int = 2
    ) -> None:
        if not 1 <= hosts <= len(records) <= settings.max_users:
            raise ValueError(
                f"hosts, users and max_users must not fall: got {hosts}, {len(records)}, {settings.max_users}"
            )
        records = [private_embeddings(record, settings.buckets.dimension) for record in records]
        self._settings = settings
        self._parties: list[ProcessParty] = []
        try:
            self.tagging = self._started("tagging", (settings, directory / "tagging.log", seed), restartable=True)
            self.synthesis = self._started("synthesis", (settings, directory / "synthesis.log", seed), restartable=True)
            self.channel = self._started("channel", (len(records), settings.bucket_cap, seed), restartable=False)
            public_key = self.tagging.greeting()[0]
            self.hosts = []
            for number in range(hosts):
                mine = {user: records[user] for user in range(number, len(records), hosts)}
                host = self._started("host", (settings, public_key, mine, seed), restartable=False)
                self.hosts.append(({user_address(user) for user in mine}, host))
        except BaseException:
            self.close()
            raise

    def _started(self, role: str, arguments: tuple, *, restartable: bool) -> ProcessParty:
        party = ProcessParty(role, arguments, restartable=restartable)
        self._parties.append(party)
        return party

    def drive(self, progress: Progress | None = None) -> Outcome:
        """Runs the protocol; see `run.drive`."""
        return drive(self._settings, self.tagging, self.synthesis, self.channel, self.hosts, progress)

    def close(self) -> None:
        for party in self._parties:
            party.stop()

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def run_in_processes(
    settings: Settings, records: Sequence[np.ndarray], directory: Path, seed: int | None = None, hosts: int = 2
) -> Outcome:
    """One run in processes with a progress bar; arguments as in `Processes`. Needs `tqdm` and `rbcl`."""
    from tqdm.auto import tqdm

    with tqdm(unit="message", desc="protocol") as bar, Processes(settings, records, directory, seed, hosts) as parties:

        def progress(phase: str, done: int, total: int) -> None:
            bar.set_postfix_str(f"{phase} {done}/{total}", refresh=False)
            bar.update()

        return parties.drive(progress)


def _serve(pipe, role: str, arguments: tuple) -> None:
    """A party's process: builds it, then answers until the pipe is closed."""
    party, greeting = _built(role, arguments)
    actions = {
        _RECEIVE: lambda data: party.receive(data),
        _BEGIN: lambda data: party.begin(),
        _ACCEPT: lambda data: party.accept(data) or [],
        _FLUSH: lambda data: party.flush(),
        _BACK: lambda data: [party.back(data)],
    }
    pipe.send_bytes(_packed(greeting))
    while True:
        try:
            question = pipe.recv_bytes()
        except (EOFError, OSError):
            return
        try:
            answer = _packed(actions[question[:1]](question[1:]))
        except Exception as error:
            answer = _FAILED + f"{role}: {type(error).__name__}: {error}".encode()
        pipe.send_bytes(answer)


def _built(role: str, arguments: tuple):
    """The party, and what it says first."""
    *public, seed = arguments
    noise: NoiseSource = Secure() if seed is None else Simulation(seed)
    if role == "tagging":
        tagging = TaggingServer(*public, noise.child(role))
        return tagging, [tagging.public_key]
    if role == "synthesis":
        return SynthesisServer(*public, noise.child(role)), []
    if role == "channel":
        users, places = public
        senders: dict[bytes, int | None] = {user_address(number): places for number in range(users)}
        return Channel({**senders, TAGGING: None}, noise.child(role)), []
    settings, public_key, records = public
    return UserHost(
        [
            User(user_address(number), settings, public_key, record, noise.child(f"user {number}"))
            for number, record in records.items()
        ]
    ), []


def _packed(frames: Sequence[bytes]) -> bytes:
    return b"".join([b"+", *(struct.pack(">I", len(data)) + data for data in frames)])


def _answers(data: bytes) -> list[bytes]:
    if data[:1] == _FAILED:
        raise PartyFailed(data[1:].decode())
    frames, at = [], 1
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        frames.append(data[at + 4 : at + 4 + length])
        at += 4 + length
    return frames

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
from privlib.synthesis.protocol.users import ServerKeys, User

_RECEIVE, _BEGIN, _ACCEPT, _FLUSH, _BACK, _FAILED = b"R", b"B", b"A", b"F", b"K", b"E"
_RESTARTS = 3  # in a row, for one batch


class PartyFailed(RuntimeError):
    """A party raised an error, or was lost and cannot be started again."""


class ProcessParty:
    """A party in a process of its own. One with a log (`restartable`) is started again when it is lost, and given the
    frames again that it had not answered."""

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
        return self._ask(None)

    def _ask(self, question: bytes | None) -> list[bytes]:
        """The answer; the greeting when nothing is asked. PartyFailed with the party's reason is not tried again."""
        for _ in range(_RESTARTS):
            try:
                if self._greeting is None:
                    self._greeting = _answers(self._pipe.recv_bytes())
                if question is None:
                    return self._greeting
                self._pipe.send_bytes(question)
                return _answers(self._pipe.recv_bytes())
            except (EOFError, OSError):
                if not self._restartable:
                    break
                self.stop()
                self._start()
        raise PartyFailed(f"the {self._role} process was lost")

    def receive_all(self, frames: Sequence[bytes]) -> list[bytes]:
        return self._ask(_RECEIVE + _packed(frames))

    def begin(self, addresses: Sequence[bytes]) -> list[bytes]:
        return self._ask(_BEGIN + _packed(addresses))

    def accept_all(self, frames: Sequence[bytes]) -> list[bytes]:
        return self._ask(_ACCEPT + _packed(frames))

    def flush(self) -> list[bytes]:
        return self._ask(_FLUSH + _packed([]))

    def back_all(self, frames: Sequence[bytes]) -> list[bytes]:
        return self._ask(_BACK + _packed(frames))

    def stop(self) -> None:
        self._pipe.close()
        self.process.kill()
        self.process.join()


class Processes:
    """All parties of a run as processes, from here until `close`: both servers, the channel, and hosts of users.

    `records`: one float[n, d] for each user; users are dealt to `hosts` processes (one each when there are as many).
    `directory` holds the servers' logs, `tagging.log` and `synthesis.log`, and none of another run. `seed` of a
    simulation, or None: system entropy in every party. Public settings and each host's own records are copied to it
    when it starts. Raises ValueError for bad arguments, PartyFailed with the reason of a party that cannot be built.
    """

    def __init__(
        self, settings: Settings, records: Sequence[np.ndarray], directory: Path, seed: int | None, hosts: int = 2
    ) -> None:
        if not 1 <= hosts <= len(records) <= settings.max_users:
            raise ValueError(
                f"hosts, users and max_users must not fall: got {hosts}, {len(records)}, {settings.max_users}"
            )
        records = [private_embeddings(record, settings.buckets.dimension) for record in records]
        _check_unused(directory)
        self._settings = settings
        self._parties: list[ProcessParty] = []
        try:
            self.synthesis = self._started("synthesis", (settings, directory / "synthesis.log", seed), restartable=True)
            self.channel = self._started("channel", (len(records), settings.bucket_cap, seed), restartable=False)
            (box,) = self.synthesis.greeting()
            told = (settings, directory / "tagging.log", box, seed)
            self.tagging = self._started("tagging", told, restartable=True)
            keys = ServerKeys(*self.tagging.greeting(), box)
            self.hosts = []
            for number in range(hosts):
                mine = {user: records[user] for user in range(number, len(records), hosts)}
                host = self._started("host", (settings, keys, mine, seed), restartable=False)
                self.hosts.append(({user_address(user) for user in mine}, host))
        except BaseException:
            self.close()
            raise

    def _started(self, role: str, arguments: tuple, *, restartable: bool) -> ProcessParty:
        party = ProcessParty(role, arguments, restartable=restartable)
        self._parties.append(party)
        return party

    def drive(self, progress: Progress | None = None, batch: int = 256) -> Outcome:
        """Runs the protocol; see `run.drive`."""
        return drive(self._settings, self.tagging, self.synthesis, self.channel, self.hosts, progress, batch)

    def close(self) -> None:
        for party in self._parties:
            party.stop()

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def run_here(settings: Settings, records: Sequence[np.ndarray], directory: Path, seed: int | None = None) -> Outcome:
    """The same run with all parties as objects of this process: quicker to start, and the same numbers by `seed`."""
    _check_unused(directory)
    synthesis, (box,) = _built("synthesis", (settings, directory / "synthesis.log", seed))
    tagging, keys = _built("tagging", (settings, directory / "tagging.log", box, seed))
    channel, _ = _built("channel", (len(records), settings.bucket_cap, seed))
    host, _ = _built("host", (settings, ServerKeys(*keys, box), dict(enumerate(records)), seed))
    addresses = {user_address(user) for user in range(len(records))}
    return drive(settings, tagging, synthesis, channel, [(addresses, host)])


def run_in_processes(
    settings: Settings, records: Sequence[np.ndarray], directory: Path, seed: int | None = None, hosts: int = 2
) -> Outcome:
    """One run in processes with a progress bar for each phase; arguments as in `Processes`. Needs `tqdm`, `rbcl`."""
    from tqdm.auto import tqdm

    bars: dict[str, tqdm] = {}

    def progress(phase: str, done: int, total: int) -> None:
        if phase not in bars:
            for finished in bars.values():
                finished.close()
            bars[phase] = tqdm(desc=phase, unit=" messages")
        bars[phase].total = total
        bars[phase].update(done - bars[phase].n)

    try:
        with Processes(settings, records, directory, seed, hosts) as parties:
            return parties.drive(progress)
    finally:
        for bar in bars.values():
            bar.close()


def _serve(pipe, role: str, arguments: tuple) -> None:
    """A party's process: builds it, or says why it cannot, then answers until the pipe is closed."""
    try:
        party, greeting = _built(role, arguments)
    except Exception as error:
        pipe.send_bytes(_failure(role, error))
        return
    actions = {
        _RECEIVE: lambda frames: party.receive_all(frames),
        _BEGIN: lambda addresses: party.begin(addresses),
        _ACCEPT: lambda frames: party.accept_all(frames),
        _FLUSH: lambda frames: party.flush(),
        _BACK: lambda frames: party.back_all(frames),
    }
    pipe.send_bytes(_packed(greeting))
    while True:
        try:
            question = pipe.recv_bytes()
        except (EOFError, OSError):
            return
        try:
            answer = _packed(actions[question[:1]](_answers(question[1:])))
        except Exception as error:
            answer = _failure(role, error)
        pipe.send_bytes(answer)


def _failure(role: str, error: Exception) -> bytes:
    return _FAILED + f"{role}: {type(error).__name__}: {error}".encode()


def _check_unused(directory: Path) -> None:
    """A server goes on from a log, users begin anew: the new run's users would get the outcome of the old one."""
    for name in ("tagging.log", "synthesis.log"):
        if (directory / name).exists():
            raise ValueError(f"directory must hold no log of another run, got {directory} with {name}")


def _built(role: str, arguments: tuple):
    """The party, and what it says first."""
    *public, seed = arguments
    noise: NoiseSource = Secure() if seed is None else Simulation(seed)
    if role == "tagging":
        *where, box = public
        tagging = TaggingServer(*where, noise.child(role), box)
        return tagging, [tagging.public_key, tagging.box_key]
    if role == "synthesis":
        synthesis = SynthesisServer(*public, noise.child(role))
        return synthesis, [synthesis.box_key]
    if role == "channel":
        users, places = public
        senders: dict[bytes, int | None] = {user_address(number): places for number in range(users)}
        return Channel({**senders, TAGGING: None}, noise.child(role)), []
    settings, keys, records = public
    return UserHost(
        [
            User(user_address(number), settings, keys, record, noise.child(f"user {number}"))
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

"""Users that live in one process: each has its own records, coins and state, and sees only frames addressed to it."""

from __future__ import annotations

from collections.abc import Sequence

from privlib.synthesis.protocol.messages import EVERYONE, Malformed, unframe
from privlib.synthesis.protocol.users import User


class UserHost:
    """Passes frames to its `users` by address; one to everyone goes to each."""

    def __init__(self, users: Sequence[User]) -> None:
        self._users = {user.address: user for user in users}

    def begin(self, addresses: Sequence[bytes]) -> list[bytes]:
        """First frames of the users at `addresses`."""
        return [data for address in addresses for data in self._users[address].begin()]

    def receive(self, data: bytes) -> list[bytes]:
        """What its users answer to a frame; nothing when it is for none of them, or too short to say for whom."""
        try:
            _, destination, _ = unframe(data)
        except Malformed:
            return []
        if destination == EVERYONE:
            return [answer for user in self._users.values() for answer in user.receive(data)]
        user = self._users.get(destination)
        return user.receive(data) if user else []

    def receive_all(self, frames: Sequence[bytes]) -> list[bytes]:
        return [answer for data in frames for answer in self.receive(data)]

    @property
    def stopped(self) -> dict[bytes, str]:
        """Users that stopped after a bad proof, and why."""
        return {address: user.stopped for address, user in self._users.items() if user.stopped}


def user_address(number: int) -> bytes:
    """Address of user 0, 1, ...: 8 bytes."""
    return b"u" + number.to_bytes(7, "big")

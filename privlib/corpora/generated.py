"""Corpora made here, whose truth is known: who wrote how much, which share has what, what was planted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import NamedTuple

from . import arguments, hashing
from .corpus import Corpus, Provenance, _Frozen


@dataclass(frozen=True)
class Truth:
    """What is true of a generated corpus; indices count its records from 0.

    proportions       attribute (and "topic") -> value -> exact share of records that have it
    records_of_user   user id -> number of records
    planted           planted text -> index of the one record that is this text
    probes            probe phrase -> indices of the records that hold it
    """

    proportions: Mapping[str, Mapping[str, float]]
    records_of_user: Mapping[str, int]
    planted: Mapping[str, int]
    probes: Mapping[str, tuple[int, ...]]


class Generated(NamedTuple):
    corpus: Corpus
    truth: Truth


def generate(
    n_users: int = 500,
    *,
    seed: int = 1,
    most_records: int = 40,
    exponent: float = 1.0,
    attributes: Mapping[str, Mapping[str, float]] | None = None,
    topics: Mapping[str, float] | None = None,
    planted: Sequence[str] = (),
    probes: Mapping[str, int] | None = None,
) -> Generated:
    """A corpus of short reviews with its truth. The same arguments give the same bytes on every machine.

    n_users        users; the r-th most active of them has max(1, floor(most_records / r^exponent)) records
    exponent       of that Zipf law, >= 0; 0 gives everybody most_records
    attributes     attribute -> value -> weight; records get values in these shares, exact up to rounding by
                   largest remainder, independent of topic and user. Values of the built-in `mood` and `age`
                   are also told by the text; those of other attributes are labels only
    topics         topic -> weight among the built-in topics; by default the r-th has weight 1/r
    planted        rare texts, each the whole text of one record of a user of its own
    probes         phrase -> number of records (planted ones excluded) that end with it

    The unit of privacy is the user; the attribute `topic` holds the topic ("" for a planted record).
    Raises ValueError for weights that are negative or all zero, unknown topics, repeated planted texts,
    and a probe in more records than there are, TypeError for another type.
    """
    arguments.whole("n_users", n_users, at_least=1)
    arguments.number("most_records", most_records)
    arguments.number("exponent", exponent)
    for text in arguments.several("planted", planted):
        arguments.text("planted: an entry", text)
    for name, value in (("attributes", attributes), ("topics", topics), ("probes", probes)):
        if value is not None:
            arguments.mapping(name, value)
    if not (most_records >= 1 and exponent >= 0):
        raise ValueError(f"expected most_records >= 1, exponent >= 0, got {most_records}, {exponent}")
    if len(set(planted)) != len(planted) or not all(map(str.strip, planted)):
        raise ValueError("planted must be distinct texts that are not empty")
    phrases = json.loads(resources.files(__package__).joinpath("topics.json").read_text("utf-8"))
    attributes = phrases["attributes"] if attributes is None else attributes
    topics = {topic: 1 / rank for rank, topic in enumerate(phrases["topics"], start=1)} if topics is None else topics
    if unknown := topics.keys() - phrases["topics"].keys():
        raise ValueError(f"topics must be among {list(phrases['topics'])}, got {sorted(unknown)}")

    counts = {_user(seed, rank): max(1, int(most_records / rank**exponent)) for rank in range(1, n_users + 1)}
    owners = [(user, number) for user, count in counts.items() for number in range(count)]
    records = [f"{user}-{number}" for user, number in owners]
    labels = {
        name: _exact_shares(records, shares, seed, name) for name, shares in {**attributes, "topic": topics}.items()
    }
    texts = {record: _sentence(record, labels, phrases, seed) for record in records}
    carriers: dict[str, set[str]] = {}
    for phrase, support in (probes or {}).items():
        if arguments.whole(f"probes: support of {phrase!r}", support, at_least=0) > len(records):
            raise ValueError(f"probes: support must lie in 0..{len(records)}, got {support}")
        carriers[phrase] = set(_shuffled(records, seed, f"probe/{phrase}")[:support])
        for record in carriers[phrase]:
            texts[record] += f" {phrase}"
    unit_of = {record: user for record, (user, _) in zip(records, owners, strict=True)}
    for number, text in enumerate(planted):
        record = f"planted-{number}"
        texts[record], unit_of[record] = text, f"planted-user-{number}"
    order = _shuffled(list(texts), seed, "order")
    place = {record: index for index, record in enumerate(order)}
    columns = {name: tuple(column.get(record, "") for record in order) for name, column in labels.items()}
    corpus = Corpus(
        name="generated",
        texts=tuple(texts[record] for record in order),
        record_ids=tuple(order),
        unit_ids=tuple(unit_of[record] for record in order),
        attributes=columns,
        provenance=Provenance(
            source=f"privlib.corpora.generate(n_users={n_users}, seed={seed}, ...)",
            sha256=hashlib.sha256("\n".join(texts[record] for record in order).encode()).hexdigest(),
            terms="made by a program, of no one: CC0",
        ),
    )
    truth = Truth(
        proportions=_Frozen({name: _proportions(values) for name, values in columns.items()}),
        records_of_user=_Frozen(counts | {f"planted-user-{number}": 1 for number in range(len(planted))}),
        planted=_Frozen({text: place[f"planted-{number}"] for number, text in enumerate(planted)}),
        probes=_Frozen({phrase: tuple(sorted(place[r] for r in chosen)) for phrase, chosen in carriers.items()}),
    )
    return Generated(corpus, truth)


def _user(seed: int, rank: int) -> str:
    """A user's id, which does not tell how active the user is."""
    return f"user-{hashing.position('generate/user', seed, str(rank)):016x}"


def _shuffled(items: Sequence[str], seed: int, purpose: str) -> list[str]:
    return sorted(items, key=lambda item: (hashing.position(f"generate/{purpose}", seed, item), item))


def _choice(options: Sequence[str], record: str, seed: int, purpose: str) -> str:
    return options[hashing.position(f"generate/{purpose}", seed, record) * len(options) >> 64]


def _exact_shares(records: Sequence[str], shares: Mapping[str, float], seed: int, name: str) -> dict[str, str]:
    """Record -> value, such that each value's count is its share of the records up to rounding."""
    for weight in arguments.mapping(name, shares).values():
        arguments.number(f"{name}: a weight", weight)
    total = sum(shares.values())
    if not shares or min(shares.values()) < 0 or not 0 < total < float("inf"):
        raise ValueError(f"{name}: weights must be at least 0 and not all 0, got {dict(shares)}")
    exact = {value: len(records) * weight / total for value, weight in shares.items()}
    counts = {value: int(amount) for value, amount in exact.items()}
    left = len(records) - sum(counts.values())
    for value in sorted(exact, key=lambda value: (counts[value] - exact[value], value))[:left]:
        counts[value] += 1
    values = [value for value, count in counts.items() for _ in range(count)]
    return dict(zip(_shuffled(records, seed, f"attribute/{name}"), values, strict=True))


def _sentence(record: str, labels: Mapping[str, Mapping[str, str]], phrases: Mapping, seed: int) -> str:
    opening = _choice(phrases["openings"], record, seed, "opening")
    topic = _choice(phrases["topics"][labels["topic"][record]], record, seed, "topic")
    parts = [f"{opening}, " + topic.replace("{place}", _choice(phrases["places"], record, seed, "place"))]
    for name, column in labels.items():
        if options := phrases["markers"].get(name, {}).get(column[record]):
            parts.append(_choice(options, record, seed, f"marker/{name}"))
    return " ".join(parts)


def _proportions(values: Sequence[str]) -> dict[str, float]:
    return {value: values.count(value) / len(values) for value in sorted(set(values) - {""})}

"""Medical dialogues: a gender cue and topic tags as the one attribute of interest, attacked at text level over gamma/k.

Rewriting is by splicing, with clauses of private texts that fit the target and public texts of the target category.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from privlib import quantization
from privlib.dp import Simulation
from privlib.experiments.studies import quantization_text as text
from privlib.experiments.studies.quantization import nearest_for
from privlib.quantization import RandomizedQuantization, Schema, Share

if TYPE_CHECKING:
    import pandas as pd

STEMS = {  # of tags; a public list, in the spirit of the paper's three diagnoses
    "childbirth": "pregnan|birth|labor|period|menstr|miscarr|contracept|ovulat|fertil|breast.?feed|concepti|abortion|"
    "foetus|fetus|obstet|uter|vagin|pcos|ovar|gynec",
    "digestive": "gerd|reflux|stomach|constip|diarrh|gastr|bowel|abdom|digest|liver|hepat|pancrea|gall|ulcer|colon|"
    "hemorr|piles|acidity|vomit|nausea|intestin|rectal|anus|stool",
    "mental": "anxi|depress|psych|mental|panic|stress|ocd|bipolar|schizo|insomnia|sleep|adhd|autis|mood|suicid",
}
OTHER = "other"
ONE_TAG = "covid"  # one collection carries one tag, which names the collection and no diagnosis
# A second set of patterns for the gender cue, to see how far two sets agree; statements and body words only.
CUES = {
    "female": r"\b(?:female|woman|girl|lady)\b|\bmy (?:\w+ )?(?:periods?|vagina|ovar|uterus|cervix|menstrua|breasts?)|"
    r"\bi(?:'m| am|m| was| got) (?:\w+ )?pregnant",
    "male": r"\b(?:male|man|boy|guy)\b|\bmy (?:\w+ )?(?:penis|prostate|testic|scrot|foreskin|semen)",
}
NOT_LOOKING, PUBLIC = "not looking", "public rows"
STAND_INS = ("contraception and women's health", "mental health", "pain and nerves")


@dataclass(frozen=True)
class Task:
    """One attribute of interest: labelled rows, one a person, its public category list, and the secrets."""

    corpus: object
    schema: Schema
    secrets: tuple[Share, ...]


def tasks(name: str, loaded) -> tuple[Task, Task]:
    """The two experiments of a corpus: an attribute of two categories, and topics.

    "medical": the file's gender cue on distinct patient texts that have one; topics by stems of the site's tags, rows
    of two topics, of none of the site's tags and of the one-tag collection left out. "drug-reviews", a stand-in with no
    gender: rating positive or other; conditions folded to three and the rest.
    """
    if name == "medical":
        people = distinct(loaded)
        cue, topic = people.attributes["patient_gender_cue"], [topic_of(tags) for tags in people.attributes["tags"]]
        two = _labelled(people, "gender", cue)
        several = _labelled(people, "topic", topic)
        names, main, listed = ("female", "male"), "female", tuple(sorted(STEMS))
    elif name == "drug-reviews":
        positive = ["positive" if rating == "positive" else OTHER for rating in loaded.attributes["rating"]]
        condition = [value if value in STAND_INS else OTHER for value in loaded.attributes["condition"]]
        two, several = _labelled(loaded, "gender", positive), _labelled(loaded, "topic", condition)
        names, main, listed = (OTHER, "positive"), "positive", STAND_INS
    else:
        raise ValueError(f"name: expected 'medical' or 'drug-reviews', got {name!r}")
    binary, topics = Schema((("gender", names),)), Schema((("topic", (*listed, OTHER)),))
    return (
        Task(two, binary, (Share(binary.share(gender=main).conditions, main),)),
        Task(several, topics, tuple(Share(topics.share(topic=value).conditions, value) for value in listed)),
    )


def distinct(corpus):
    """The first row of every text: several doctors answer one question, and its patient counts once."""
    first: dict[str, int] = {}
    for row, content in enumerate(corpus.texts):
        first.setdefault(content, row)
    return corpus.take(np.array(list(first.values())), "one row a text")


def topic_of(tags: str) -> str:
    """The topic that the tags name, `OTHER` for none of the three; "" where no label can be had (see `tasks`)."""
    lowered = tags.lower()
    found = [topic for topic, stems in STEMS.items() if re.search(stems, lowered)]
    if not lowered.strip() or ONE_TAG in lowered or len(found) > 1:
        return ""
    return found[0] if found else OTHER


def cue_of(content: str) -> str:
    """The gender whose words occur, where none of the other's do; else ""."""
    found = [gender for gender, words in CUES.items() if re.search(words, content, re.IGNORECASE)]
    return found[0] if len(found) == 1 else ""


def label_limits(name: str, loaded) -> pd.DataFrame:
    """How many labels there are and what they are worth, in counts.

    Returns:
        quantity, value; for "medical" with the basis of the cue and how often a second set of patterns says the same.
    """
    import pandas as pd

    made = [("rows", len(loaded)), ("distinct texts", len(distinct(loaded)))]
    for task in tasks(name, loaded):
        ((attribute, categories),) = task.schema.attributes
        column = list(task.corpus.attributes[attribute])
        made += [(f"{attribute}: {category}", column.count(category)) for category in categories]
    if name == "medical":
        people = distinct(loaded)
        cue, basis = (people.attributes[column] for column in ("patient_gender_cue", "gender_cue_basis"))
        made += [(f"gender cue {kind}", list(basis).count(kind)) for kind in ("stated", "body", "relative")]
        both = [(file, own) for file, own in zip(cue, map(cue_of, people.texts), strict=True) if file and own]
        made += [("labelled by both sets of patterns", len(both))]
        made += [("labelled alike by both", sum(file == own for file, own in both))]
    return pd.DataFrame(made, columns=["quantity", "value"])


def parts(task: Task, auxiliary_share: float, most: int, seed: int):
    """(private pool, public, shadow): disjoint persons, at most `most` rows each."""
    split = task.corpus.split(seed=seed, auxiliary=auxiliary_share)
    source = Simulation(seed)
    return tuple(
        part.take(np.sort(source.child("rows").permutation(len(part))[:most]), f"at most {most} rows")
        for part in (split.target, *split.auxiliary.split(seed=seed + 1))
    )


@dataclass(frozen=True, eq=False)
class Setting:
    """What is the same for every private file of a task.

    Args:
        families: untrained labellers by name; "linear", one of them, reads labels for faithfulness and utility too.
        embed: texts to float[n, d].
    """

    task: Task
    public: object
    shadow: object
    families: dict
    embed: object
    gamma: int
    public_seed: int
    seed: int

    @cached_property
    def tried(self) -> dict[tuple[str, str], tuple[object, np.ndarray]]:
        """(secret, family) to the labeller trained on shadow rows and its confusion on public rows."""
        made = {}
        for secret in self.task.secrets:
            known, asked = (
                np.where(secret.holds(self.task.schema.encode(part)), "yes", "no")
                for part in (self.shadow, self.public)
            )
            for family, untrained in self.families.items():
                fitted = untrained.fit(self.shadow.texts, known)
                made[secret.name, family] = fitted, np.asarray(fitted.confusion(self.public.texts, asked))
        return made

    @cached_property
    def attackers(self) -> text.Attackers:
        """Those tried that beat the constant answer on public rows, with more hits than false alarms."""
        kept = {}
        for key, (fitted, ((wells, alarms), (misses, hits))) in self.tried.items():
            rates = hits / (hits + misses), alarms / (wells + alarms)
            if wells + hits > max(wells + alarms, misses + hits) and rates[0] > rates[1]:
                kept[key] = fitted, *rates
        schema, shadow = self.task.schema, self.shadow
        readers = {name: self.families["linear"].fit(shadow.texts, shadow.attributes[name]) for name in schema.names}
        read = quantization.read_labels(self.public.texts, readers, schema)
        return text.Attackers(kept, readers, quantization.faithfulness(read, schema.encode(self.public)))


def accuracies(name: str, setting: Setting) -> pd.DataFrame:
    """How often each family is right on public rows it was not trained on, beside the constant answer.

    Returns:
        task, secret, family, accuracy, constant, kept (whether it enters the attack).
    """
    import pandas as pd

    made = []
    for (secret, family), (_, confusion) in setting.tried.items():
        right, constant = np.trace(confusion) / confusion.sum(), confusion.sum(axis=1).max() / confusion.sum()
        kept = (secret, family) in setting.attackers.labellers
        made.append((name, secret, family, float(right), float(constant), kept))
    return pd.DataFrame(made, columns=["task", "secret", "family", "accuracy", "constant", "kept"])


def over_dilutions(
    file: str, private, setting: Setting, dilutions: Sequence[int], draws: int, label_draws: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Errors of all attacks, and the utility of the texts, over gamma/k for one private file.

    Labels of private rows are those that the cue or the tags give. `draws` fresh releases of texts a point, >= 2, for
    the labellers; `label_draws` of labels alone for the attacker who reads them exactly, who needs no text.

    Returns:
        errors: file, secret, method ("raw rows", "half of the rows", `NOT_LOOKING` or gamma/k), attack, strength
        (gamma/k, or 0), gold, error, sd;
        quality: file, method (gamma/k, or `PUBLIC`), quantity (aggregate and its four parts; faithfulness as read;
        own words), value, sd, n.
    """
    import pandas as pd

    task, schema = setting.task, setting.task.schema
    attackers = setting.attackers
    auxiliary, truth = schema.encode(setting.public), schema.encode(private)
    tree = quantization.chow_liu(auxiliary, schema)
    rewriter = quantization.splice(setting.public, schema)
    own = frozenset(clause for content in private.texts for clause in text.clauses(content))
    source = Simulation(setting.seed)
    found: dict[tuple[str, str, str], list[float]] = {}
    quality: dict[tuple[str, str], list[float]] = {}

    def attacked(method: str, texts, labels) -> None:
        for secret in task.secrets:
            for attack, guess in text.counted(texts, labels, secret, secret(truth), attackers).items():
                found.setdefault((secret.name, method, attack), []).append(guess.error)

    for secret in task.secrets:
        blind = quantization.prior_attack(auxiliary, secret, secret(truth)).error
        found[secret.name, NOT_LOOKING, text.PRIOR] = [blind]
    attacked(text.RAW, private.texts, truth)
    for _ in range(draws):
        rows = source.child("half").permutation(len(private))[: len(private) // 2]
        attacked(text.HALF, [private.texts[row] for row in rows], truth[rows])
    releases = {}
    for dilution in dilutions:
        ours = RandomizedQuantization(
            tree, setting.gamma, nearest_for(setting.gamma, dilution), public_seed=setting.public_seed
        )
        for _ in range(label_draws):
            labels = ours.release(truth, source.child(f"labels, gamma/k={dilution}")).labels
            for secret in task.secrets:
                guess = quantization.Attack(secret(labels), secret(truth))
                found.setdefault((secret.name, f"{dilution}", text.COUNT), []).append(guess.error)
        for draw in range(draws):
            released = ours.release(private, source.child(f"gamma/k={dilution}"), rewriter=rewriter)
            attacked(f"{dilution}", released.texts, None)
            read = quantization.read_labels(released.texts, attackers.readers, schema)
            faithful = quantization.faithfulness(read, released.targets)
            quality.setdefault((f"{dilution}", "faithfulness"), []).append(faithful)
            quality.setdefault((f"{dilution}", "own words"), []).append(text.own_words(released.texts, own))
            releases[f"{dilution}/{draw}"] = released.texts
    releases[f"{PUBLIC}/0"] = setting.public.texts
    scores = text.utility(private, releases, schema, attackers.readers, setting.embed, source.child("utility"))
    for score in scores.itertuples():
        method = score.method.partition("/")[0]
        for part in ("aggregate", "precision", "recall", "frechet", "attributes"):
            quality.setdefault((method, part), []).append(float(getattr(score, part)))
    golds = {secret.name: secret(truth) for secret in task.secrets}
    strengths = {f"{dilution}": float(dilution) for dilution in dilutions}
    errors = [
        (file, *key, strengths.get(key[1], 0.0), golds[key[0]], *_spread(values)) for key, values in found.items()
    ]
    scored = [(file, *key, *_spread(values), int(scores["n"].iloc[0])) for key, values in quality.items()]
    return (
        pd.DataFrame(errors, columns=["file", "secret", "method", "attack", "strength", "gold", "error", "sd"]),
        pd.DataFrame(scored, columns=["file", "method", "quantity", "value", "sd", "n"]),
    )


def ranks(errors: pd.DataFrame, families: Sequence[str]) -> pd.DataFrame:
    """Spearman's correlation of the rankings of methods by every pair of attackers, averaged over files and secrets."""
    looked = errors[errors["method"] != NOT_LOOKING]
    named = looked.assign(secret=looked["file"] + ": " + looked["secret"], rewriter=looked["method"])
    present = [family for family in families if family in set(named["attack"])]
    return text.agreement(named[["secret", "rewriter", "attack", "error"]], present)


def _labelled(corpus, name: str, values: Sequence[str]):
    """The rows that have a value, with that attribute alone."""
    labelled = replace(corpus, attributes={name: tuple(values)})
    return labelled.take(np.flatnonzero([bool(value) for value in values]), f"rows with a {name} label")


def _spread(values: Sequence[float]) -> tuple[float, float]:
    return float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else 0.0

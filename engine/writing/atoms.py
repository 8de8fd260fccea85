"""A memory's atoms: derived from its facts, and written, moved on and withdrawn with it.

What writes runs inside the caller's transaction.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from engine.config.schema import AtomSettings
from engine.context import EngineContext
from engine.domain.atom import Atom, Classification
from engine.domain.memory import FieldValue
from engine.domain.reflection import SOURCE
from engine.domain.text import content_hash
from engine.extraction.atoms import Reading
from engine.extraction.changes import RETURN, Change, change_in, ends
from engine.extraction.facts import facts_of
from engine.extraction.rules import RuleTable, load_rules
from engine.extraction.sameness import (
    CONFLICT,
    OTHER,
    SAME,
    SpokenFact,
    compare,
    content_words,
    jaccard,
    overlap,
)
from engine.language.terms import Analyser
from engine.lifecycle.atoms import expires_at, living_state
from engine.lifecycle.curves import ttl_days
from engine.storage import atoms, fulltext, journal, memory_layers
from engine.storage.atoms import Value
from engine.storage.database import Connection
from engine.storage.fulltext import ATOMS, CHARS, WORDS, Match, Tokens
from engine.storage.journal import Stamp, Subject

# Atoms looked at for one new one, the newest first.
_LOOKED_AT = 40
_LOOKED_AT_FOR_CHANGE = 200
# Share of content words in common from which two facts are compared in full.
_WORTH_A_LOOK = 0.5
_NEEDS_REPAIR = "needs-repair"


@dataclass(frozen=True, slots=True)
class AtomDraft:
    """One fact about to be written, with all that is compared and indexed of it."""

    fact: Classification
    content_hash: str
    importance: float
    tokens: Tokens
    spoken: SpokenFact
    change: Change | None
    needs_repair: bool = False


@dataclass(frozen=True, slots=True)
class AtomLayer:
    """The atoms of one memory and the settings they are written with."""

    drafts: tuple[AtomDraft, ...]
    settings: AtomSettings


@dataclass(frozen=True, slots=True)
class WrittenAtoms:
    """Atoms that a memory states (``ids``), those that it took the place of (old id to new id),
    and pairs that may contradict each other because only a number differs (both stay)."""

    ids: tuple[int, ...] = ()
    superseded: tuple[tuple[int, int], ...] = ()
    conflicts: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """Where atoms are written: for which memory, as stated at which moment (epoch seconds)."""

    workspace_id: int
    memory_id: int
    at: float


@dataclass(slots=True)
class _Run:
    connection: Connection
    place: Place
    settings: AtomSettings
    stamp: Stamp
    ids: list[int]
    superseded: list[tuple[int, int]]
    conflicts: list[tuple[int, int]]


def rule_table(context: EngineContext) -> RuleTable:
    """The rules in force: the built-in ones and the user's own."""
    return load_rules(context.home / "rules" / "atoms")


def derive_atoms(
    context: EngineContext, fields: Mapping[str, FieldValue], at: float
) -> AtomLayer | None:
    """The atoms of a memory's fields, its words of time understood from when it happened, else
    from ``at``. ``None`` when atoms are switched off."""
    settings = context.settings.atoms
    if not settings.enabled:
        return None
    event_time = fields["event_time"]
    now = float(event_time) if isinstance(event_time, (int, float)) else at
    table = rule_table(context)
    # A summary repeats what others state; stated anew, what has changed since would hold again.
    is_summary = fields["source"] == SOURCE and not fields["key_facts"]
    facts = [] if is_summary else _facts(fields, Reading(now, context.zone), table)
    importance = float(str(fields["importance"]))
    drafts = {
        draft.content_hash: draft
        for draft in (_draft(context.analyser, fact, importance) for fact in facts)
    }
    return AtomLayer(tuple(drafts.values()), settings)


def write(connection: Connection, layer: AtomLayer, place: Place, stamp: Stamp) -> WrittenAtoms:
    """Write the atoms that a memory states: a fact that is there already is stated once more,
    a new one may take the place of an older one."""
    run = _Run(connection, place, layer.settings, stamp, [], [], [])
    for draft in layer.drafts:
        _write_one(run, draft)
    return WrittenAtoms(tuple(run.ids), tuple(run.superseded), tuple(run.conflicts))


def withdraw(
    connection: Connection, memory_id: int, stamp: Stamp, keep: Collection[str] = ()
) -> None:
    """Take back what a memory states, apart from facts whose hash is in ``keep``. An atom goes
    with its last mention, and what it had superseded comes back."""
    for atom in atoms.of_memory(connection, memory_id):
        if atom.content_hash in keep:
            continue
        atoms.unmention(connection, atom.id, memory_id)
        if atom.mentions > 1:
            _follow(connection, atom, stamp)
        else:
            remove(connection, atom, stamp)


def erase(connection: Connection, memory_id: int, stamp: Stamp) -> None:
    """Take back what a memory states so that none of its words are left.

    An atom that other memories state in other words goes as well; theirs are derived again.
    """
    withdrawn = atoms.of_memory(connection, memory_id)
    withdraw(connection, memory_id, stamp)
    for atom in atoms.fetch(connection, [atom.id for atom in withdrawn]).values():
        if not atoms.is_quoted(connection, atom.id):
            memory_layers.remove(connection, atoms.mentioned_by(connection, atom.id))
            remove(connection, atom, stamp)
    if withdrawn:
        fulltext.merge(connection, ATOMS)


def remove(connection: Connection, atom: Atom, stamp: Stamp) -> None:
    """Remove an atom for good; what it had superseded comes back."""
    former = atoms.superseded_by(connection, atom.id)
    atoms.remove(connection, atom.id)
    for old in former:
        _revive(connection, old, stamp, forget_successor=True)


def follow_memory(connection: Connection, memory_id: int, stamp: Stamp) -> None:
    """Let the atoms of a memory sleep or wake with it, after it was archived, moved to the
    trash or brought back."""
    for atom in atoms.of_memory(connection, memory_id):
        _follow(connection, atom, stamp)


def mend(connection: Connection, analyser: Analyser, stamp: Stamp) -> int:
    """Make atoms agree with their memories and their index; return how many were mended."""
    unseen = atoms.fetch(connection, atoms.without_text_row(connection))
    for atom in unseen.values():
        fulltext.put(connection, atom.id, _tokens(analyser, atom.text), ATOMS)
    strayed = atoms.fetch(connection, atoms.out_of_step(connection))
    for atom in strayed.values():
        if atom.mentions:
            _follow(connection, atom, stamp)
        else:
            remove(connection, atom, stamp)
    return len(unseen.keys() | strayed.keys())


def supersede(connection: Connection, old: Atom, new_id: int, stamp: Stamp) -> None:
    """Let one atom take the place of another."""
    _set_state(connection, old, "superseded", stamp, "supersede", superseded_by=new_id)


def reinforced(atom: Atom, settings: AtomSettings, at: float, count: int) -> dict[str, Value]:
    """Columns of an atom that was stated or reinforced at ``at``, ``count`` times since it was
    first stated: shelf life, end and state are worked out again."""
    life = ttl_days(base_ttl_days(settings, atom.type), atom.importance, count)
    refreshed_at = max(atom.refreshed_at, at)
    return {
        "refreshed_at": refreshed_at,
        "ttl_days": life,
        "expires_at": expires_at(refreshed_at, life, atom.deadline),
    }


def base_ttl_days(settings: AtomSettings, atom_type: str) -> float:
    """The base shelf life of a type, in days."""
    return float(getattr(settings, atom_type).ttl_days)


def curve_of(settings: AtomSettings, atom_type: str) -> str:
    """The curve of a type."""
    return str(getattr(settings, atom_type).curve)


def _facts(
    fields: Mapping[str, FieldValue], reading: Reading, table: RuleTable
) -> list[Classification]:
    key_facts = fields["key_facts"]
    named = key_facts if isinstance(key_facts, tuple) else ()
    try:
        return facts_of(str(fields["text"]), named, reading, table)
    except (OverflowError, RecursionError, ValueError):
        # A user's rule or a date out of every range must not cost the memory its facts.
        return [Classification(fact, "unknown", 0.5, _NEEDS_REPAIR) for fact in named]


def _draft(analyser: Analyser, fact: Classification, importance: float) -> AtomDraft:
    tokens = _tokens(analyser, fact.text)
    return AtomDraft(
        fact=fact,
        content_hash=content_hash(fact.text),
        importance=importance,
        tokens=tokens,
        spoken=SpokenFact(fact.text, frozenset(tokens.words), fact.polarity),
        change=change_in(fact.text),
        needs_repair=fact.rule == _NEEDS_REPAIR,
    )


def _tokens(analyser: Analyser, text: str) -> Tokens:
    terms = analyser.index_terms(text)
    return Tokens(analyser.segmenter_id, terms.words, terms.chars)


def _write_one(run: _Run, draft: AtomDraft) -> None:
    known = atoms.by_hash(run.connection, run.place.workspace_id, draft.content_hash)
    related: list[tuple[str, Atom]] = [] if known else _related(run, draft)
    known = known or next((atom for relation, atom in related if relation == SAME), None)
    if known is not None:
        _state_again(run, known, draft)
        return
    former = _changed(run, draft)
    atom_id = _insert(run, draft if former is None else _lasting(draft, former))
    for relation, atom in related:
        if relation == CONFLICT:
            run.conflicts.append((atom.id, atom_id))
        elif former is None or atom.id != former.id:
            _take_place(run, atom, atom_id)
    if former is not None:
        _take_place(run, former, atom_id)


def _lasting(draft: AtomDraft, former: Atom) -> AtomDraft:
    """What a change leads to holds as long as what it ended would have: "moved to Porto" is no
    mere event where "lives in Lisbon" was known."""
    if draft.fact.type == "planned" or draft.change is None:
        return draft
    fact = replace(draft.fact, type=former.type, rule=draft.change.rule)
    return replace(draft, fact=fact)


def _take_place(run: _Run, old: Atom, new_id: int) -> None:
    supersede(run.connection, old, new_id, run.stamp)
    run.superseded.append((old.id, new_id))


def _insert(run: _Run, draft: AtomDraft) -> int:
    fact, at = draft.fact, run.place.at
    life = ttl_days(base_ttl_days(run.settings, fact.type), draft.importance, 0)
    end = expires_at(at, life, fact.deadline)
    new = atoms.NewAtom(
        workspace_id=run.place.workspace_id,
        type=fact.type,
        text=fact.text,
        content_hash=draft.content_hash,
        confidence=fact.confidence,
        importance=draft.importance,
        polarity=fact.polarity,
        event_time=fact.event_time,
        deadline=fact.deadline,
        created_at=at,
        refreshed_at=at,
        ttl_days=life,
        expires_at=end,
        curve=curve_of(run.settings, fact.type),
        state=living_state(end, run.stamp.at),
        state_changed_at=at,
        rule=fact.rule,
        needs_repair=draft.needs_repair,
    )
    atom_id = atoms.insert(run.connection, new, draft.tokens)
    atoms.mention(run.connection, atom_id, run.place.memory_id, at)
    run.ids.append(atom_id)
    return atom_id


def _state_again(run: _Run, atom: Atom, draft: AtomDraft) -> None:
    run.ids.append(atom.id)
    if not atoms.mention(run.connection, atom.id, run.place.memory_id, run.place.at):
        return
    count = atom.reinforcement_count + 1
    values = reinforced(atom, run.settings, run.place.at, count)
    values["confidence"] = max(atom.confidence, draft.fact.confidence)
    atoms.update(run.connection, atom.id, values)
    state = living_state(_number(values["expires_at"]), run.stamp.at)
    if state != atom.state:
        _set_state(run.connection, atom, state, run.stamp, "reinforce")


def _number(value: Value) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None


def _related(run: _Run, draft: AtomDraft) -> list[tuple[str, Atom]]:
    """Living atoms that say the same (the most alike one first), the opposite, or other
    numbers."""
    spoken, words = draft.spoken, _alike(run, draft.spoken.words)
    ranked: list[tuple[float, str, Atom]] = []
    for atom in atoms.fetch(run.connection, words).values():
        if atom.state not in atoms.LIVING:
            continue
        other = SpokenFact(atom.text, words[atom.id], atom.polarity)
        relation = compare(spoken, other, run.settings.same_fact_jaccard)
        if relation != OTHER:
            ranked.append((jaccard(spoken.words, other.words), relation, atom))
    ranked.sort(key=lambda item: (-item[0], -item[2].id))
    return [(relation, atom) for _, relation, atom in ranked]


def _alike(run: _Run, spoken: frozenset[str]) -> dict[int, frozenset[str]]:
    """Atoms that share enough content words to be worth a closer look, with their words."""
    about = content_words(spoken)
    ids = atoms.newest_with(
        run.connection, run.place.workspace_id, _rarest(run, about or spoken), _LOOKED_AT
    )
    return {
        atom_id: words
        for atom_id, words in atoms.words_of(run.connection, ids).items()
        if overlap(about, words) >= _WORTH_A_LOOK
    }


def _rarest(run: _Run, words: Collection[str]) -> list[Match]:
    """The words of which one must be shared: sets with a Jaccard of at least t share one of the
    ``n - ceil(t * n) + 1`` rarest (the prefix filter of set similarity joins)."""
    matches = [Match(WORDS, word) for word in words]
    frequencies = fulltext.document_frequencies(
        run.connection, matches, ATOMS, (run.place.workspace_id,)
    )
    matches.sort(key=lambda match: (frequencies[match], match.token))
    count = len(matches) - math.ceil(run.settings.same_fact_jaccard * len(matches)) + 1
    return [match for match in matches[:count] if frequencies[match]]


def _changed(run: _Run, draft: AtomDraft) -> Atom | None:
    """The one atom that a stated change puts an end to."""
    change = draft.change
    if change is None:
        return None
    candidates = _candidates(run, change)
    if change.kind == RETURN:
        return _left_meanwhile(run, change, candidates)
    scored = [
        (ends(change, atom.text), atom.id, atom)
        for atom in candidates
        if atom.state in atoms.LIVING
    ]
    surest = max(scored, default=None, key=lambda item: item[:2])
    return surest[2] if surest and surest[0] else None


def _left_meanwhile(run: _Run, change: Change, candidates: Sequence[Atom]) -> Atom | None:
    """Who returns to something leaves what had superseded it."""
    for atom in candidates:
        if atom.state == "superseded" and ends(change, atom.text):
            line = atoms.successors(run.connection, atom.id)
            current = atoms.fetch(run.connection, line[-1:]).get(line[-1]) if line else None
            if current is not None and current.state in atoms.LIVING:
                return current
    return None


def _candidates(run: _Run, change: Change) -> list[Atom]:
    matches = _lookups(change)
    ids = atoms.newest_with(run.connection, run.place.workspace_id, matches, _LOOKED_AT_FOR_CHANGE)
    found = atoms.fetch(run.connection, ids)
    return [found[atom_id] for atom_id in ids]


def _lookups(change: Change) -> list[Match]:
    matches: list[Match] = []
    for part in change.lookup.split():
        if part.isascii():
            matches.append(Match(WORDS, part, prefix=True))
        elif len(part) == 1:
            matches.append(Match(CHARS, part, prefix=True))
        else:
            matches += [Match(CHARS, part[place : place + 2]) for place in range(len(part) - 1)]
    return matches


def _follow(connection: Connection, atom: Atom, stamp: Stamp) -> None:
    present = atoms.has_present_mention(connection, atom.id)
    if not present and atom.state in ("active", "expired"):
        _set_state(connection, atom, "dormant", stamp, "archive")
        for old in atoms.superseded_by(connection, atom.id):
            if old.state == "superseded":
                _revive(connection, old, stamp)
    elif present and atom.state == "dormant":
        _set_state(connection, atom, living_state(atom.expires_at, stamp.at), stamp, "restore")
        for old in atoms.superseded_by(connection, atom.id):
            if old.state in atoms.LIVING:
                supersede(connection, old, atom.id, stamp)


def _revive(
    connection: Connection, atom: Atom, stamp: Stamp, *, forget_successor: bool = False
) -> None:
    """Bring a superseded atom back. The successor that only sleeps stays noted, so that it
    takes its place again when it wakes."""
    if atom.state != "superseded":
        return
    present = atoms.has_present_mention(connection, atom.id)
    state = living_state(atom.expires_at, stamp.at) if present else "dormant"
    successor = None if forget_successor else atom.superseded_by
    _set_state(connection, atom, state, stamp, "restore", superseded_by=successor)


def _set_state(
    connection: Connection,
    atom: Atom,
    state: str,
    stamp: Stamp,
    operation: str,
    superseded_by: int | None = None,
) -> None:
    values: dict[str, Value] = {"state": state, "state_changed_at": stamp.at}
    values["superseded_by"] = superseded_by
    atoms.update(connection, atom.id, values)
    changes: dict[str, tuple[FieldValue, FieldValue]] = {"state": (atom.state, state)}
    if superseded_by != atom.superseded_by:
        changes["superseded_by"] = (atom.superseded_by, superseded_by)
    journal.append(connection, stamp, operation, Subject(atom.id, "", journal.ATOM), changes)

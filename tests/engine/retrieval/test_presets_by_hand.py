"""Each preset against scores computed by hand: the arithmetic stands here, written out."""

from __future__ import annotations

from math import exp, log

import pytest

from engine.config.presets import load_preset
from engine.config.schema import WeightSettings
from engine.retrieval.facts import Facts, QueryFacts
from engine.retrieval.scoring import rank

DAY = 86_400.0
NOW = 1_000 * DAY


def scores(preset: str, pool: list[Facts], **query) -> dict[int, float]:
    ranking = rank(load_preset(preset), pool, QueryFacts(now=NOW, **query))
    return {item.id: item.score for item in ranking.ordered}


def order(preset: str, pool: list[Facts], **query) -> list[int]:
    return list(scores(preset, pool, **query))


DUAL_POOL = [
    Facts(
        id=1,
        created_at=NOW - 60 * DAY,
        last_access=NOW - 15 * DAY,
        importance=0.8,
        confidence=0.9,
        temporal_factor=0.5,
        ranks={"text": 0, "vector": 1, "graph_text": 0},
    ),
    Facts(id=2, created_at=NOW - 30 * DAY, importance=0.4, ranks={"vector": 0}),
    Facts(
        id=3,
        created_at=NOW,
        importance=0.6,
        confidence=0.7,
        ranks={"graph_text": 1, "graph_vector": 0},
    ),
]


def dual_parts() -> tuple[float, float, float, float]:
    """Route scores of the pool above: documents of 1 and 2, graph of 1 and 3."""
    best = 1 / 61 + 1 / 62
    document_1 = 0.5 * 1.0 + 0.25 * 0.8 + 0.25 * exp(-15 / 30)
    document_2 = 0.5 * (1 / 61) / best + 0.25 * 0.4 + 0.25 * exp(-30 / 30)
    graph_1 = (0.55 * (1 / 61) / best + 0.20 * 0.8 + 0.15 * exp(-0.5) + 0.10 * 0.9) * 0.5
    graph_3 = (0.55 * 1.0 + 0.20 * 0.6 + 0.15 * 1.0 + 0.10 * 0.7) * 1.0
    return document_1, document_2, graph_1, graph_3


def test_dual_route():
    """
    document 1: .5 + .2 + .25 * .606531 = .851633           (best of the route)
    document 2: .5 * .504065 + .1 + .25 * .367879 = .444002
    graph 1:    (.277236 + .16 + .090980 + .09) * .5 = .309108
    graph 3:    .55 + .12 + .15 + .07 = .89                 (best of the route)
    1: .65 + .35 * .309108 / .89 + .08 = .851559
    2: .65 * .444002 / .851633 = .338880
    3: .35
    """
    document_1, document_2, graph_1, graph_3 = dual_parts()
    got = scores("dual-route", DUAL_POOL)
    assert got[1] == pytest.approx(0.65 + 0.35 * graph_1 / graph_3 + 0.08, abs=1e-12)
    assert got[2] == pytest.approx(0.65 * document_2 / document_1, abs=1e-12)
    assert {i: round(score, 6) for i, score in got.items()} == {1: 0.851559, 2: 0.33888, 3: 0.35}


def test_dual_route_for_a_question_about_relations():
    """graph .35 + .20 = .55, documents the rest, .45."""
    document_1, document_2, graph_1, graph_3 = dual_parts()
    got = scores("dual-route", DUAL_POOL, traits=frozenset({"relational"}))
    assert got[1] == pytest.approx(0.45 + 0.55 * graph_1 / graph_3 + 0.08, abs=1e-12)
    assert got[2] == pytest.approx(0.45 * document_2 / document_1, abs=1e-12)
    assert got[3] == pytest.approx(0.55, abs=1e-12)


def test_dual_route_is_capped_at_1():
    both = Facts(id=1, created_at=NOW, ranks={"text": 0, "graph_text": 0})
    assert scores("dual-route", [both]) == {1: 1.0}


BLEND_POOL = [
    Facts(id=1, created_at=NOW - 10 * DAY, importance=0.9, cosine=0.8, bm25=6.0, polarity=1),
    Facts(id=2, created_at=NOW - 2 * DAY, importance=0.5, cosine=0.9, bm25=0.0),
    Facts(id=3, created_at=NOW, importance=0.2, cosine=-0.1, bm25=12.0, polarity=-1),
]


def test_hybrid_blend():
    """
    1: .55*.8 + .20*.5 + .15*.367879 + .10*.9 + .05 = .735182
    2: .55*.9 + 0      + .15*.818731 + .10*.5       = .667810
    3: .55*-.1 + .20*1 + .15*1       + .10*.2 - .05 = .265
    """
    got = scores("hybrid-blend", BLEND_POOL)
    assert got[1] == pytest.approx(0.44 + 0.10 + 0.15 * exp(-1.0) + 0.09 + 0.05, abs=1e-12)
    assert {i: round(s, 6) for i, s in got.items()} == {1: 0.735182, 2: 0.66781, 3: 0.265}


def test_hybrid_blend_shares_the_weight_of_the_words_out_when_none_matches():
    """cosine, recency and importance times (.8 + .2) / .8 = 1.25; polarity stays."""
    pool = [Facts(id=1, created_at=NOW - 10 * DAY, importance=0.9, cosine=0.8, polarity=1)]
    expected = 0.6875 * 0.8 + 0.1875 * exp(-1.0) + 0.125 * 0.9 + 0.05
    assert scores("hybrid-blend", pool)[1] == pytest.approx(expected, abs=1e-12)
    assert round(expected, 6) == 0.781477


def test_hybrid_blend_keeps_a_weight_of_words_that_nothing_can_take_over():
    words_only = WeightSettings(cosine=0, recency=0, importance=0, polarity=0, lexical=1)
    pool = [Facts(id=1, created_at=NOW, cosine=0.8)]
    ranking = rank(load_preset("hybrid-blend"), pool, QueryFacts(now=NOW), words_only)
    assert ranking.ordered[0].score == 0.0


def test_hybrid_blend_with_nearness_by_links():
    """
    Base scores .735182, .667810, .265 scale to seeds 1, .856710, 0 ((s - .265) / .470182).
    2 and 3 are linked. One round: half the seed, and half of what the neighbour has.
      1: .5 each round
      2: .428355, then .428355 + .5*.428355 = .642533, then .428355 + .5*.214178 = .535444
      3: 0 + .5*.856710 = .428355, then .5*.428355 = .214178, then .5*.642533 = .321266
    Scaled: 2 is the most (1), 3 the least (0), 1: (.5 - .321266) / (.535444 - .321266) = .834512
    """
    linked = QueryFacts(now=NOW, links={3: [2]})
    weights = WeightSettings(proximity=0.2)
    ranking = rank(load_preset("hybrid-blend"), BLEND_POOL, linked, weights)
    got = {item.id: item.score for item in ranking.ordered}
    base = scores("hybrid-blend", BLEND_POOL)
    seed = (base[2] - base[3]) / (base[1] - base[3])
    second = 0.5 * seed + 0.5 * (0.5 * seed)
    third = 0.5 * (0.5 * seed + 0.5 * (0.5 * seed))
    two = 0.5 * seed + 0.5 * (0.5 * (0.5 * seed))
    assert second == pytest.approx(0.642533, abs=1e-6)
    assert got[2] == pytest.approx(base[2] + 0.2, abs=1e-12)
    assert got[3] == pytest.approx(base[3], abs=1e-12)
    assert got[1] == pytest.approx(base[1] + 0.2 * (0.5 - third) / (two - third), abs=1e-12)
    assert (got[1] - base[1]) / 0.2 == pytest.approx(0.834512, abs=1e-6)


def test_hybrid_blend_without_links_is_the_plain_blend():
    weights = WeightSettings(proximity=0.2)
    ranking = rank(load_preset("hybrid-blend"), BLEND_POOL, QueryFacts(now=NOW), weights)
    assert {i.id: i.score for i in ranking.ordered} == scores("hybrid-blend", BLEND_POOL)


def test_hybrid_blend_by_ranks():
    """
    cosine ranks 2, 1, 3; words 2, 3, 1; recency 3, 2, 1; importance 1, 2, 3.
    """
    got = scores("hybrid-blend-rrf", BLEND_POOL)
    assert got[1] == pytest.approx(0.55 / 62 + 0.20 / 62 + 0.15 / 63 + 0.10 / 61 + 0.05, abs=1e-12)
    assert got[2] == pytest.approx(0.55 / 61 + 0.20 / 63 + 0.15 / 62 + 0.10 / 62, abs=1e-12)
    assert got[3] == pytest.approx(0.55 / 63 + 0.20 / 61 + 0.15 / 61 + 0.10 / 63 - 0.05, abs=1e-12)
    assert {i: round(s, 6) for i, s in got.items()} == {1: 0.066117, 2: 0.016223, 3: -0.033945}


def test_equal_signals_share_a_rank():
    alike = [Facts(id=i, created_at=NOW, cosine=0.5, importance=0.5) for i in (1, 2)]
    assert list(scores("hybrid-blend-rrf", alike).values()) == pytest.approx(
        [0.8 / 61 + 0.2 / 61] * 2
    )


def test_composite():
    """
    1: (.55*.7 + .20*.5 + .15*.6 + .10*f) * 1.10, f = ln 11 / ln 51 * .5 = .304934
       = (.385 + .1 + .09 + .030493) * 1.1 = .666043
    2: (.55*.7 + .20*.25 + .15*.6 + 0) * .90 = .4725
    3: (.55*.7 + .20*1 + .15*1 + .10*1) * 1 = .835
    """
    pool = [
        Facts(
            id=1,
            created_at=NOW - 30 * DAY,
            last_access=NOW - 30 * DAY,
            access_count=10,
            importance=0.6,
            cosine=0.7,
            source="chat",
        ),
        Facts(id=2, created_at=NOW - 60 * DAY, importance=0.6, cosine=0.7, source="import"),
        Facts(
            id=3,
            created_at=NOW,
            last_access=NOW,
            access_count=50,
            importance=1.0,
            cosine=0.7,
            source="ingest",
        ),
    ]
    got = scores("composite", pool)
    use = log(11) / log(51) * 0.5
    assert got[1] == pytest.approx((0.385 + 0.1 + 0.09 + 0.1 * use) * 1.1, abs=1e-12)
    assert {i: round(s, 6) for i, s in got.items()} == {1: 0.666043, 2: 0.4725, 3: 0.835}


def test_salience_first():
    """Salience over its greatest, 2; among equals the newer one stands first."""
    pool = [
        Facts(id=1, created_at=NOW - 9 * DAY, salience=1.05, cosine=0.9),
        Facts(id=2, created_at=NOW - 1 * DAY, salience=1.05, cosine=0.2),
        Facts(id=3, created_at=NOW - 99 * DAY, salience=1.2, cosine=0.1),
    ]
    assert scores("salience-first", pool) == {3: 0.6, 2: 0.525, 1: 0.525}
    assert order("salience-first", pool) == [3, 2, 1]


def test_the_blend_with_earned_words_that_a_preset_may_name():
    """
    Best coverage .5, onset .25: the words earn (.5 - .25) / .75 = 1/3 of .9, that is .3, and the
    vectors get .1 + .6 = .7. Cosines .8, .6, .4 scale to 1, .5, 0; words to 0, 1, 0.
      1: .7 * 1 + .3 * 0 = .7; 2: .7 * .5 + .3 * 1 = .65; 3: 0; over the best 1, .928571, 0
    """
    from engine.config.presets import parse_preset

    preset = parse_preset(
        "mine",
        """
        fusion = { method = "blend", vector_share = 0.1, lexical_share = 0.9, onset = 0.25 }
        weights = { relevance = 0.9, importance = 0.05, recency = 0.05 }
        recency = { days = 30 }
        """,
    )
    pool = [
        Facts(id=1, created_at=NOW, importance=0.5, cosine=0.8, bm25=0.0, coverage=0.0),
        Facts(id=2, created_at=NOW - 30 * DAY, importance=1.0, cosine=0.6, bm25=5.0, coverage=0.5),
        Facts(id=3, created_at=NOW - 60 * DAY, importance=0.0, cosine=0.4, bm25=0.0, coverage=0.0),
    ]
    got = {i.id: i.score for i in rank(preset, pool, QueryFacts(now=NOW)).ordered}
    assert got[1] == pytest.approx(0.9 + 0.025 + 0.05, abs=1e-12)
    assert got[2] == pytest.approx(0.9 * 0.65 / 0.7 + 0.05 + 0.025, abs=1e-12)
    assert got[3] == pytest.approx(0.0125, abs=1e-12)
    assert {i: round(s, 6) for i, s in got.items()} == {1: 0.975, 2: 0.910714, 3: 0.0125}


BALANCED_POOL = [
    Facts(
        id=1,
        created_at=NOW - 14 * DAY,
        importance=0.5,
        cosine=0.8,
        bm25=10.0,
        coverage=0.6,
        rare_words=1.4,
        time_match=1.0,
        context=0.5,
        speaker=1.0,
    ),
    Facts(id=2, created_at=NOW, importance=1.0, cosine=0.6, bm25=4.0, coverage=0.3, context=0.8),
    Facts(id=3, created_at=NOW - 28 * DAY, importance=0.0, cosine=0.4, context=0.2, graph=0.5),
]


def test_balanced():
    """
    The words earned (.6 - .4) / .4 = .5 of their share: .4 * .5 = .2, the vectors have .8.
    words of 2 beside 1: (4 * .3^.3) / (10 * .6^.3) = .4 * .812252 = .324901
    relevance: 1: .8 + .2 = 1; 2: .8 * .5 + .2 * .324901 = .464980; 3: 0
    1: .6 + .4*.5 + .5*1 + .12*1 + .05*.5 + .02*.5 = 1.455
    2: .6 * .464980 + .4*.8 + .05*1 + .02*1 = .668988
    3: .4*.2 + .02*.25 = .085
    """
    got = scores("balanced", BALANCED_POOL, word_count=5)
    assert {i: round(score, 6) for i, score in got.items()} == {1: 1.455, 2: 0.668988, 3: 0.085}


def test_balanced_for_work_that_goes_on_and_for_people():
    """Recency counts .30 in place of .02: 1 + .28 * .5, 2 + .28, 3 + .28 * .25; a person named
    lets the graph count, of which 3 has the best: .05; a relation asked for, .1."""
    ongoing = scores("balanced", BALANCED_POOL, word_count=5, traits=frozenset({"ongoing"}))
    assert {i: round(s, 6) for i, s in ongoing.items()} == {1: 1.595, 2: 0.948988, 3: 0.155}
    people = scores("balanced", BALANCED_POOL, word_count=5, traits=frozenset({"people"}))
    assert round(people[3], 6) == 0.135
    both = scores(
        "balanced", BALANCED_POOL, word_count=5, traits=frozenset({"people", "relational"})
    )
    assert round(both[3], 6) == 0.185

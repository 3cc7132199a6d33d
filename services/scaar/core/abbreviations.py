"""Words whose full stop need not end a sentence, in lower case and without that full stop.

Written in capitals throughout they are other words: "Oakland, CA. The mayor".
"""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NEVER_LAST = _words(
    """
    mr mrs ms mx dr prof mt ft messrs mme mlle msgr fr rev hon gen col lt capt cpt sgt maj cmdr
    cdr adm cpl pvt brig gov rep pres supt insp ste sra smt asst
    e.g i.e eg cf viz v vs approx ca vol vols fig figs nr eds dept
    """
)
"""What always goes on: titles before a name, and words that lead to an example or a number."""

NUMBERING = _words("no nos art op ch sec pt ep pp ver")
"""What goes on where a number follows, and may otherwise be a word at the end of a sentence."""

AMBIGUOUS = _words(
    """
    st sen jr sr inc ltd co cos corp bros plc gmbh ave blvd rd hwy esq univ est etc al chas wm
    ph.d m.phil jan feb mar apr jun jul aug sep sept oct nov dec
    """
)
"""What may go on or end a sentence. So may initials: F., U.S., a.m."""

COMPANY_FORMS = _words("inc ltd corp llc plc gmbh")
"""What follows a company's name, and begins no sentence: "Yahoo! Inc. was sold"."""

SENTENCE_STARTERS = _words(
    """
    a an the this that these those he she it they we you i his her its their our my
    in on at by for from to of with after before during while when where who what which why how
    as since because although though if but and or so thus therefore hence however also both
    neither either then there another yes not now next finally moreover furthermore additionally
    according based until unlike despite among between under through some many most all each
    one two let here is was were are did does
    """
)
"""Words that begin sentences and seldom names: after them an ambiguous full stop was an end."""

"""Column names: words for roles, quantities, codes, and columns of a survey design."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

Role = Literal["identifier", "quasi-identifier", "sensitive", "keep", "drop", "weight"]
"""Treatment of a column: dropped because it identifies people; generalized; protected; unchanged; dropped; weight."""

_WORDS: Mapping[Role, str] = {
    "identifier": (
        "id uuid guid name names surname lastname firstname forename fullname username user ssn passport iban account "
        "email mail phone telephone mobile fax address street ip mac url mrn patient pid plate vorname nachname "
        "strasse telefon adresse patientennummer patientennr patientenid patienten patientin versichertennummer "
        "versichertennr"
    ),
    "drop": "remark remarks comment comments note notes memo narrative freetext bemerkung bemerkungen kommentar "
    "notiz notizen anmerkung freitext",
    "sensitive": (
        "diagnosis disease illness icd condition symptom therapy treatment drug medication hiv result test income "
        "salary wage wages earnings revenue debt credit score religion belief party vote politics orientation offense "
        "crime sentence grade diagnose hauptdiagnose nebendiagnose aufnahmediagnose entlassungsdiagnose befund "
        "krankheit gehalt einkommen konfession"
    ),
    "quasi-identifier": (
        "age birth birthdate birthday birthyear born dob sex gender race ethnicity ethnic zip zipcode postcode postal "
        "city town county state region country nationality citizenship language marital married education school "
        "degree occupation job profession employer industry household children date day month year admission "
        "discharge height weight alter geburtsdatum geburtsjahr geschlecht plz ort land beruf "
        "wohnort familienstand kinder kinderzahl nationalität staatsangehörigkeit aufnahme aufnahmedatum entlassung "
        "entlassungsdatum größe gewicht geb datum"
    ),
}


def find_role(name: str) -> Role | None:
    """Return the role that a column name suggests by its first known word; None without a known word.

    >>> find_role("birth_date"), find_role("zipCode"), find_role("x17")
    ('quasi-identifier', 'quasi-identifier', None)
    """
    return next((role for word in split_words(name) for role, words in _WORDS.items() if word in words.split()), None)


_QUANTITIES = (
    "age alter income einkommen salary gehalt wage wages savings expend expenditure revenue umsatz sales amount betrag "
    "price preis cost costs kosten count anzahl num size hours stunden hr hrs weeks weight gewicht height größe bmi "
    "year years jahr jahre month monat months days day tag tage population area fläche score points total sum capital "
    "gain loss tax steuer rate percent pct ratio share duration dauer temperature dose length width balance debt "
    "assets profit value density units latitude longitude lat lon people persons children kinder kids pressure speed"
)
"""Words for counts and measurements."""

_CODES = (
    "code icd naics isco nace occ indp puma fips state county region "
    "country district status type typ kind sex gender geschlecht race ethnicity hisp religion marital education educ "
    "edu relat relationship civil id nr no phone telefon cat category class group gruppe sector material"
)
"""Words for numbers that are names. Postcodes are excluded, because their order reflects geography."""

_WEIGHT = r"(?:(?:wgt|weight|wt|gewicht)s?)"
_SURVEY = (
    r"(?:survey|sampling|sample|samp|design|instance|household|hh|person|pers?|final|calib\w*|analysis|expansion|base|stat"
    r"|post\w*|pop\w*|cross|long|norm\w*|raking|a|f|d)"
)
_DESIGN: Mapping[str, re.Pattern[str]] = {
    role: re.compile(pattern)
    for role, pattern in {
        "replicate weight": r"(w_)?(rep|repl|replicate|brr|jk[n1]?|bsr?|fay|boot|p?wgtp|repwtp?|fstr?)"
        rf"_?(w|{_WEIGHT})?_?\d+",
        "weight": rf"({_SURVEY}_?)*{_WEIGHT}(_?{_SURVEY})*|w|fnl_?wgt|afnlwgt|p?wgtp|pspwght|w_fstuwt|wtfinl|perwt"
        r"|wtfa\w*|wtss\w*|hochrechnung\w*|ponder\w*",
        "household": r"(ori_)?(hid|hh_?(id|nr|num)?|hhold_?id|household_?(id|no|nr|num|number|key)?|serial(no)?"
        r"|haushalts?_?(id|nr|nummer)|(menage|hogar)_?(id|no|num)?)",
        "stratum": r"v?strat(a|um|ums)?(_?(id|var|no|nr))?|sdmvstra|schicht|estrato|strate",
        "cluster": r"(sdmv|v)?psu(_?(id|no|nr))?|ssu|(primary_)?sampling_unit|cluster_?(id|no|nr)?|secu|klumpen"
        r"|(ea|enumeration_area)(_?id)?|conglomerado",
        "flag": r"(.*_)?(flag|imputed|imp_flag)|flag_.*|is_imputed.*",
    }.items()
}


def split_words(name: str) -> list[str]:
    """Return the words of a column's name in lower case.

    >>> split_words("PatientenNr_2")
    ['patienten', 'nr']
    """
    return re.findall(r"[^\W\d_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())


def number_kind(name: str) -> Literal["quantity", "code", ""]:
    """Return "quantity" or "code" for integers in a column, by its name; words for quantities take precedence.

    >>> number_kind("n_children"), number_kind("marital_status"), number_kind("q7")
    ('quantity', 'code', '')
    """
    words = set(split_words(name))
    return "quantity" if words & set(_QUANTITIES.split()) else "code" if words & set(_CODES.split()) else ""


def design_role(name: str) -> str:
    """Return the role of a column in a survey design, by its name; "" for none.

    >>> [design_role(name) for name in ("PWGTP12", "sampling_weight", "hhid", "strata", "weight_kg", "Body weight")]
    ['replicate weight', 'weight', 'household', 'stratum', '', '']
    """
    plain = re.sub(r"[ .-]+", "_", name.lower())
    return next((role for role, pattern in _DESIGN.items() if pattern.fullmatch(plain)), "")


_VISIBLE = re.compile(
    "(age|alter|sex|gend|geschl|mar|msp|civ|hhciv|fam|educ?|etn|ethn|rac|hisp|nat|citi|birth|dob|geb|occ|prof|beruf|job"
    "|work|lab|emp|ind|relat|relig|hous|own|rent|urb|rur|reg|state|county|puma|zip|plz|post|city|town|child|kid|young"
    "|veh|car|ten|hh_?size|npf|height|size)"
)


def is_visible(name: str) -> bool:
    """Return True if people can know this of each other, by the start of the name, also for short survey names.

    >>> [is_visible(name) for name in ("AGEP", "MARSTAT", "urbrur", "q17", "RECPENS")]
    [True, True, True, False, False]
    """
    return _VISIBLE.match(name.lower()) is not None


_OTHER_WORDS = "label class target item cluster subject secret output source truth key patient customer member"


def is_column_name(text: str) -> bool:
    """Return True if a text looks like a column name of a table.

    >>> is_column_name("birth_date"), is_column_name("Person One"), is_column_name("10001")
    (True, False, False)
    """
    words = split_words(text)
    return bool(words) and bool(
        number_kind(text) or find_role(text) or design_role(text) or words[0] in _OTHER_WORDS.split()
    )

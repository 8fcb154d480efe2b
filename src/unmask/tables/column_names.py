"""What the name of a column says that its cells are: a guess from words that people give to columns."""

from __future__ import annotations

import re
from collections.abc import Mapping

from unmask.facts import Role

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


def meant_by(name: str) -> Role | None:
    """The role that a column's name speaks for; None when it says nothing known. The first word that does decides.

    >>> meant_by("birth_date"), meant_by("zipCode"), meant_by("x17")
    ('quasi-identifier', 'quasi-identifier', None)
    """
    words = re.findall(r"[^\W\d_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())
    return next((role for word in words for role, known in _WORDS.items() if word in known.split()), None)

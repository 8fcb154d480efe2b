"""Every field of a form is a key of the document: its section has it, or the protection that it describes."""

import pytest

from unmask.app import adversaries_screen, workflows
from unmask.app.fields import Field
from unmask.app.workflow import Sample
from unmask.document import list_sections, section_type
from unmask.schema import Either, Table, defaults, parameters

SAMPLES = {
    "aggregates": Sample("tables.toml", {}),
    "graph": Sample("calls.csv", {"caller": ["a", "b"], "callee": ["b", "c"]}),
    "linkage": Sample("guess.csv", {"item": ["a", "b"], "cluster": ["1", "2"]}),
    "channel": Sample("places.csv", {"place": ["a", "b"], "x": ["0", "1"], "y": ["1", "2"]}),
}
WORKFLOWS = [workflow for workflow in workflows.WORKFLOWS if workflow.word]
FIRST_DOCUMENTS = [(workflow, workflow.begin(SAMPLES[workflow.word])) for workflow in WORKFLOWS]
EMPTY_DOCUMENTS = [(workflow, {workflow.word: {}}) for workflow in WORKFLOWS]
TABLE_FIELDS = [value for value in vars(adversaries_screen).values() if isinstance(value, Field)]


def list_fields():
    fields = [
        field
        for workflow, document in (*FIRST_DOCUMENTS, *EMPTY_DOCUMENTS)
        for form in workflow.forms.values()
        for field in form.fields(document)
    ]
    return {field.key: field for field in (*fields, *TABLE_FIELDS)}


FIELDS = list_fields()


def list_keys(section):
    kind = section_type(section)
    tables = kind.kinds if isinstance(kind, Either) else (kind,)
    return {key for table in tables if isinstance(table, Table) for key in table.keys}


def test_there_are_fields_of_every_kind_of_release():
    assert {key.partition(".")[0] for key in FIELDS} >= {"graph", "linkage", "channel", "protections", "audit"}


@pytest.mark.parametrize("key", FIELDS)
def test_the_key_of_a_field_is_in_the_schema_of_the_document(key):
    section, _, name = key.partition(".")
    assert section in list_sections()
    keys = parameters(FIELDS[key].function).keys() if section == "protections" else list_keys(section)
    assert name in keys or (section, name) == ("data", "hold_back")  # data is open: its domain has further keys


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda workflow: workflow.word)
def test_keys_of_files_are_in_the_schema_of_the_document(workflow):
    assert {*workflow.file_keys} <= list_keys(workflow.word)


def test_a_field_has_its_range_and_default_from_the_parameter():
    runs = FIELDS["graph.runs"]
    assert (runs.box_type, runs.title) == ("integer", "Runs, each with other graphs or seeds")
    assert defaults(runs.function)["runs"] == 4

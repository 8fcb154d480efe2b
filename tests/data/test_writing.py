"""Files are whole or not there, alone and together; secret ones are their owner's from the first byte."""

import os
import stat

import pytest

from unmask import FailedError
from unmask.cli.files import print_secret_file
from unmask.data.writing import replace_file, replace_files, write_text


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_several_files_take_their_names_together(tmp_path):
    first, two = tmp_path / "one", tmp_path / "two"
    with replace_files(first, None, two) as places:
        write_text(places[first], "1")
        write_text(places[two], "2")
        assert not first.exists()
        assert not two.exists()
    assert (first.read_text(), two.read_text()) == ("1", "2")
    assert names_in(tmp_path) == ["one", "two"]


def test_an_error_leaves_none_of_them(tmp_path):  # R21
    first, two = tmp_path / "one", tmp_path / "two"
    with pytest.raises(FileNotFoundError), replace_files(first, two) as places:
        places[first].replace(places[two] / "nowhere")
    assert names_in(tmp_path) == []


def test_a_file_that_cannot_take_its_name_takes_the_others_with_it(tmp_path):  # R21
    first, two = tmp_path / "one", tmp_path / "two"
    with pytest.raises(FailedError, match="output 'two' cannot be written"), replace_files(first, two) as places:
        places[first].touch()  # and nothing for the other
    assert names_in(tmp_path) == []


def test_a_missing_folder_is_reported_before_anything_is_written(tmp_path):  # R21
    with pytest.raises(FailedError, match="output 'b' cannot be written: No such file"):
        write_text(tmp_path / "x" / "b", "")
    with pytest.raises(FailedError, match="output 'b' cannot be written: No such file"):
        replace_files(tmp_path / "a", tmp_path / "x" / "b").__enter__()
    assert names_in(tmp_path) == []


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_secret_file_is_its_owners_from_the_first_byte(tmp_path):  # R6
    old = os.umask(0)
    try:
        with replace_file(tmp_path / "place") as place:
            write_text(place, "secret", private=True)
            assert stat.S_IMODE(place.stat().st_mode) == 0o600
            assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "place").stat().st_mode) == 0o600


@pytest.mark.parametrize(("folder", "warnings"), [(".", 1), ("safe", 0)])
def test_a_secret_file_in_the_folder_of_the_release_draws_a_warning(tmp_path, capsys, folder, warnings):  # R6
    (tmp_path / "safe").mkdir()
    print_secret_file(tmp_path / folder / "origin.csv", public_file=tmp_path / "release.csv")
    lines = capsys.readouterr().err.splitlines()
    assert "keep it secret" in lines[0]
    assert len(lines) == 1 + warnings

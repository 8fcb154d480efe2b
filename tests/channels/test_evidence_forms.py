"""The form of a file of evidence is recognized by its column names, then by its shape."""

import pytest
from click.testing import CliRunner

from unmask.channels.evidence.forms import recognize_form
from unmask.channels.matrix_files import read_channel
from unmask.cli import main
from unmask.data.event_logs import read_lines

FORMS = {
    "probabilities": (",y0,y1\na,.8,.2\nb,.2,.8\n", "channel"),
    "identity of whole numbers": (",y0,y1\na,1,0\nb,0,1\n", "channel"),
    "rounded probabilities": (",y0,y1\na,.333,.667\nb,.2,.8\n", "channel"),
    "counts": (",y0,y1\na,8,2\nb,3,9\n", "counts"),
    "counts of equal sums": (",y0,y1\na,8,2\nb,3,7\n", "counts"),
    "samples": ("secret,output\na,0\na,1\n", "samples"),
    "samples in another order and case": ("Output,SECRET\n0,a\n", "samples"),
    "samples under other names": ("key,time\na,0\na,1\n", "samples"),
    "counted samples": ("secret,output,count\na,0,3\n", "counts"),
    "traces": ("user,time,place\nu,1,p\n", "traces"),
    "traces with what was shown": ("user,time,place,shown\nu,1,p,q\n", "traces"),
    "traces under other names": ("user_id,Timestamp,lat,lon,venue\nu,1,2,3,p\n", "traces"),
    "rounds": ("round,sender,receiver\n1,a,x\n", "rounds"),
    "messages": ("sender,receiver,entered,left\na,x,0.1,3\n", "messages"),
    "messages with a round": ("round,left,entered,receiver,sender\n1,3,.1,x,a\n", "messages"),
}

REFUSED = {
    "percentages": (",y0,y1\na,80,20\nb,20.5,79.5\n", "divide percentages by 100"),
    "whole percentages": (",y0,y1\na,80,20\nb,20,80\n", "--evidence counts"),
    "no names": (".8,.2\n.2,.8\n", "empty cell"),
    "a first line without an empty cell": ("y0,y1\n.8,.2\n.2,.8\n", "empty cell"),
    "negative cells": (",y0,y1\na,1.2,-.2\n", "line 2"),
    "a secret twice": (",y0\na,1\na,1\n", "occurs twice"),
    "words": (",y0\na,x\n", "line 2"),
    "lines of unequal length": (",y0,y1\na,.8,.2\nb,.2\n", "line 3"),
    "other sums": (",y0,y1\na,.5,.2\nb,.5,.1\n", "sum to 0.7"),
    "check-ins without places": ("user,time,lat,lon\nu,1,48,2\n", "add one with the cell of a grid"),
    "nothing": ("", "has no numbers"),
}


def write(folder, content):
    path = folder / "evidence.csv"
    path.write_text(content)
    return path


@pytest.mark.parametrize(("content", "form"), list(FORMS.values()), ids=list(FORMS))
def test_a_file_is_recognized_by_its_columns_then_by_its_shape(tmp_path, content, form):
    path = write(tmp_path, content)
    assert recognize_form(path, read_lines(path)) == form


@pytest.mark.parametrize(("content", "hint"), list(REFUSED.values()), ids=list(REFUSED))
def test_an_ambiguous_file_is_refused_in_one_sentence_with_the_next_step(tmp_path, content, hint):
    path = write(tmp_path, content)
    result = CliRunner().invoke(main, ["audit", "channel", str(path)])
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert hint in result.stderr


def test_counts_that_are_refused_never_advise_a_division(tmp_path):
    path = write(tmp_path, ",y0,y1\na,80.5,19.5\nb,20,80\n")
    result = CliRunner().invoke(main, ["audit", "channel", str(path), "--evidence", "counts"])
    assert result.exit_code == 2
    assert "divide" not in result.stderr


def test_the_option_overrides_the_recognition(tmp_path):
    path = write(tmp_path, ",y0,y1\na,80,20\nb,20,80\n")
    channel, _ = read_channel(path, read_lines(path), "counts", None, None)
    assert channel.samples == 200

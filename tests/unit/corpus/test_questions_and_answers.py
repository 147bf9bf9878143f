"""A table of questions and answers keeps both; sentences that are not read are named."""

from __future__ import annotations

from backend.corpus import SourceFile, read_file

FAQ = b"id,question,answer\n1,How do I reset my password?,Press the round button for ten seconds.\n"
OTHER = b"id,text,remark\n1,The mill race is cleaned in March.,This one was checked twice by hand.\n"


def test_the_question_stands_before_its_answer() -> None:
    read = read_file(SourceFile("faq.csv", FAQ))
    assert "How do I reset my password? Press the round button for ten seconds." in read.text


def test_prose_that_is_not_read_is_named() -> None:
    read = read_file(SourceFile("other.csv", OTHER))
    assert "checked twice" not in read.text
    assert any("remark" in warning and "not read" in warning for warning in read.warnings)


def test_a_plain_table_gives_no_warning() -> None:
    assert read_file(SourceFile("plain.csv", b"id,text\n1,Eels are counted in autumn.\n")).warnings == ()

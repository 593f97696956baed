"""Cutting: nothing is lost, nothing is too long, long sections overlap."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from deskhand.knowledge.article_sections import ArticleSection
from deskhand.knowledge.chunks import LONGEST, OVERLAP, cut


def test_a_short_section_is_one_chunk() -> None:
    [chunk] = cut([ArticleSection(("A", "B"), "Short.\n\nText.")])
    assert (chunk.heading_path, chunk.text) == (("A", "B"), "Short.\n\nText.")


def test_a_long_section_is_cut_between_sentences_and_overlaps() -> None:
    sentences = [f"This is sentence number {number} of a long section." for number in range(100)]
    chunks = cut([ArticleSection(("Long",), " ".join(sentences))])
    assert all(len(chunk.text) <= LONGEST for chunk in chunks)
    assert all(
        chunk.text.startswith("This is") and chunk.text.endswith("section.") for chunk in chunks
    )
    for before, after in pairwise(chunks):
        first = after.text.split(". ")[0]
        assert first in before.text
        shared = next(
            size
            for size in range(len(after.text), -1, -1)
            if before.text.endswith(after.text[:size])
        )
        assert 0 < shared <= OVERLAP
    for sentence in sentences:
        assert any(sentence in chunk.text for chunk in chunks)


def test_paragraphs_and_lines_stay_apart() -> None:
    text = "\n\n".join("- first item\n- second item " + "word " * 30 for _ in range(12))
    chunks = cut([ArticleSection((), text)])
    assert len(chunks) > 1
    assert all("- first item\n- second item" in chunk.text for chunk in chunks)


@given(st.lists(st.text(st.sampled_from("ab .!?\n\t "), max_size=2500), max_size=3))
def test_no_word_is_lost_and_no_chunk_is_too_long(texts: list[str]) -> None:
    chunks = cut([ArticleSection((), text) for text in texts])
    assert all(0 < len(chunk.text) <= LONGEST for chunk in chunks)
    kept = "".join("".join(chunk.text.split()) for chunk in chunks)
    for text in texts:
        for word in text.split():
            assert len(word) > LONGEST or word in kept
    letters = sum(character in "ab" for text in texts for character in text)
    assert sum(character in "ab" for chunk in chunks for character in chunk.text) >= letters


def test_a_word_without_end_is_cut_anyway() -> None:
    chunks = cut([ArticleSection((), "x" * 5000)])
    assert "".join(chunk.text for chunk in chunks).count("x") >= 5000
    assert all(len(chunk.text) <= LONGEST for chunk in chunks)

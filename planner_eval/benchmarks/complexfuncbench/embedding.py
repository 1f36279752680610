"""Texts as vectors, and the cheapest assignment of predicted calls to gold calls.

This module is imported where a mapping is needed, for it needs numpy; scipy is loaded only when
more than one assignment is possible.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import fsum
from typing import TYPE_CHECKING, Any, Protocol

from planner_eval.base.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Embedding(Protocol):
    """Anything that turns texts into vectors of length one."""

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """One row a text; rows have length one, so that a dot product is a cosine.

        Args:
            texts: n texts.

        Returns:
            A matrix of n rows.
        """
        ...


@dataclass(frozen=True, slots=True)
class Trigrams:
    """The default: counts of three-character windows, hashed into buckets, scaled to length one.

    It needs no weights and gives the same numbers everywhere. It measures shared spelling, not
    meaning; use :class:`SentenceTransformer` for the model that the paper names.

    Args:
        buckets: The number of columns.

    >>> Trigrams().embed(["New York", "new york"]).shape
    (2, 512)
    """

    buckets: int = 512

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """One row a text; a text of fewer than three characters is a row of zeros."""
        import numpy as np

        matrix = np.zeros((len(texts), self.buckets))
        for row, text in enumerate(texts):
            data = text.encode("utf-8", "surrogatepass")
            if len(data) == len(text):
                windows = [data[start : start + 3] for start in range(len(data) - 2)]
            else:
                windows = [
                    text[start : start + 3].encode("utf-8", "surrogatepass") for start in range(len(text) - 2)
                ]
            counts = np.bincount(
                [_bucket(window, self.buckets) for window in windows], minlength=self.buckets
            )
            length = float(np.linalg.norm(counts))
            matrix[row] = counts / length if length else 0.0
        return matrix


@lru_cache(maxsize=65536)
def _bucket(window: bytes, buckets: int) -> int:
    return zlib.crc32(window) % buckets


class SentenceTransformer:
    """The paper's embedding, through the package ``sentence-transformers`` (the extra ``embed``).

    Args:
        model: A model's name or folder; the paper takes ``BAAI/bge-large-en-v1.5``.

    Raises:
        InputError: the extra is not installed.

    Source: ComplexFuncBench paper, section 3.1 "Hungarian Mapping".
    """

    def __init__(self, model: str = "BAAI/bge-large-en-v1.5") -> None:
        try:
            from sentence_transformers import SentenceTransformer as Model
        except ImportError as error:
            raise InputError(
                "this embedding needs the extra 'embed': pip install 'planner_eval[embed]'"
            ) from error
        self._model: Any = Model(model)

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """One row a text, as the model gives it, scaled to length one."""
        import numpy as np

        rows = self._model.encode(list(texts), normalize_embeddings=True)
        return np.asarray(rows, dtype=np.float64)


def assign(predicted: Sequence[str], gold: Sequence[str], embedding: Embedding) -> list[tuple[int, int]]:
    """The one-to-one assignment with the largest sum of similarities, by predicted position.

    Equal vectors give equal results on every machine. Where several assignments are equally good, the
    one that scipy's procedure meets on the distances 1 - similarity counts; :func:`has_ties` tells such
    cases.

    Args:
        predicted: Texts of the predicted calls.
        gold: Texts of the gold calls.
        embedding: Gives the vectors.

    Returns:
        min(len(predicted), len(gold)) pairs of positions; no similarity is too small.

    Source: ComplexFuncBench paper, section 3.1, equation (1).

    >>> assign(["b", "ab"], ["ab"], Trigrams()) == [(0, 0)]  # nothing in common: the first
    True
    """
    if not predicted or not gold:
        return []
    if len(predicted) == len(gold) == 1:
        return [(0, 0)]
    from scipy.optimize import linear_sum_assignment

    # The published code negates the similarities. Which of two equal calls comes first hangs on such
    # details; with exact similarities the distances meet the recorded choices more often.
    rows, columns = linear_sum_assignment(1 - similarities(predicted, gold, embedding))
    return [(int(row), int(column)) for row, column in zip(rows, columns, strict=True)]


def similarities(
    predicted: Sequence[str], gold: Sequence[str], embedding: Embedding
) -> npt.NDArray[np.float64]:
    """One row a predicted text, one column a gold text: the dot products of their vectors.

    Equal texts are embedded once and have equal rows or columns. The products are added exactly and
    rounded once: the order in which a matrix product adds, and so its last digit, differs from
    processor to processor.

    Args:
        predicted: At least one text.
        gold: At least one text.
        embedding: Gives the vectors.

    >>> similarities(["Oslo", "Rome", "Oslo"], ["Rome"], Trigrams()).tolist()
    [[0.0], [0.9999999999999998], [0.0]]
    """
    import numpy as np

    row_of = {text: row for row, text in enumerate(dict.fromkeys([*predicted, *gold]))}
    vectors = embedding.embed(list(row_of))
    pred_vectors, gold_vectors = (vectors[[row_of[text] for text in texts]] for texts in (predicted, gold))
    columns = []
    for vector in gold_vectors:
        filled = vector.nonzero()[0]  # most buckets of a text are empty
        columns.append([fsum(products) for products in (pred_vectors[:, filled] * vector[filled]).tolist()])
    return np.array(columns).T


def has_ties(predicted: Sequence[str], gold: Sequence[str], embedding: Embedding) -> bool:
    """Two rows or two columns of the similarities are equal: exchanging them costs nothing.

    The published code leaves it to the last digit of a matrix product which of two equal calls gets
    which partner, so that its result may be another one on another machine.

    Args:
        predicted: Texts of the predicted calls.
        gold: Texts of the gold calls.
        embedding: Gives the vectors.

    >>> (
    ...     has_ties(["Oslo", "Oslo"], ["Rome", "Oslo"], Trigrams()),
    ...     has_ties(["Oslo", "Rome"], ["Oslo"], Trigrams())
    ... )
    (True, False)
    """
    if not predicted or not gold:
        return False
    table = similarities(predicted, gold, embedding)
    return any(len(set(map(tuple, lines.tolist()))) < len(lines) for lines in (table, table.T))

"""What is known of models that people use, by name: sizes and prefixes."""

from __future__ import annotations

from collections.abc import Sequence

from agent_memfas.embedders.base import Embedder
from agent_memfas.text.record import Record

BGE = "Represent this sentence for searching relevant passages: "
BGE_ZH = "为这个句子生成表示以用于检索相关文章："
QWEN = ("Instruct: Given a web search query, retrieve relevant passages that answer the query\n"
        "Query:")  # fmt: skip


class Known(Record):
    """query, passage: what a model was trained to have before a question, before a text."""

    dimensions: int = 0
    query: str = ""
    passage: str = ""


# By the start of the name, without owner and tag; the longest that fits counts. Sizes and prefixes
# are those of the models' own pages; servers do not put the prefixes in by themselves.
MODELS = {
    "all-minilm": Known(384),
    "bge-base-en": Known(768, BGE),
    "bge-base-zh": Known(768, BGE_ZH),
    "bge-large-en": Known(1024, BGE),
    "bge-large-zh": Known(1024, BGE_ZH),
    "bge-m3": Known(1024),
    "bge-small-en": Known(384, BGE),
    "bge-small-zh": Known(512, BGE_ZH),
    "e5-base": Known(768, "query: ", "passage: "),
    "e5-large": Known(1024, "query: ", "passage: "),
    "e5-small": Known(384, "query: ", "passage: "),
    "embeddinggemma": Known(768, "task: search result | query: ", "title: none | text: "),
    "multilingual-e5-base": Known(768, "query: ", "passage: "),
    "multilingual-e5-large": Known(1024, "query: ", "passage: "),
    "multilingual-e5-large-instruct": Known(1024, QWEN.replace("Query:", "Query: ")),
    "multilingual-e5-small": Known(384, "query: ", "passage: "),
    "mxbai-embed-large": Known(1024, BGE),
    "nomic-embed-text": Known(768, "search_query: ", "search_document: "),
    "qwen3-embedding": Known(0, QWEN),
    "snowflake-arctic-embed": Known(1024, BGE),
    "snowflake-arctic-embed-l": Known(1024, BGE),
    "snowflake-arctic-embed-l-v2": Known(1024, "query: "),
    "snowflake-arctic-embed-m": Known(768, BGE),
    "snowflake-arctic-embed-m-v2": Known(768, "query: "),
    "snowflake-arctic-embed-s": Known(384, BGE),
    "snowflake-arctic-embed-xs": Known(384, BGE),
    "snowflake-arctic-embed2": Known(1024, "query: "),
    "text-embedding-3-large": Known(3072),
    "text-embedding-3-small": Known(1536),
    "text-embedding-ada-002": Known(1536),
}
NOTHING = Known()


class NamedEmbedder(Embedder):
    """An embedder of one of several models, told by its name. size: of the vectors of a model that
    is not known, until the first text came.
    """

    def __init__(self, model: str, size: int) -> None:
        self.model = model
        self._known = known(model)
        self._size = self._known.dimensions or size

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has; of an unknown model a guess, until a text came."""
        return self._size

    def embed(self, text: str) -> Sequence[float]:
        """The vector of one text."""
        return self.embed_batch([text])[0]


def known(model: str) -> Known:
    """What is known of a model: `BAAI/bge-small-en-v1.5`, `nomic-embed-text:latest`. Of others
    nothing: no prefixes, size 0.
    """
    name = model.rsplit("/", 1)[-1].partition(":")[0].lower()
    fitting = [s for s in MODELS if name == s or name.startswith((f"{s}-", f"{s}."))]
    return MODELS[max(fitting, key=len)] if fitting else NOTHING

"""What speaks for a passage whatever words it has: who says it, when, and what it is a piece of."""

from __future__ import annotations

from agent_memfas.index import weights
from agent_memfas.text.asked import folded, is_assistant, is_named, may_name_time, quotations
from agent_memfas.text.days import aging
from agent_memfas.text.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import date

    from agent_memfas.index.ranking import Spot
    from agent_memfas.text.asked_times import Span, Time


class Leaning(Record):
    """What a ranking depends on beside the words. today: for ages, and for times that a question
    names relative to it. recency_weight: of memfas.yaml; 0 where there is no today.
    """

    today: date | None = None
    recency_weight: float = 0.0


PLAIN = Leaning()


class Priors:
    """What speaks for a passage whatever words it has, for one question."""

    def __init__(self, question: str, leaning: Leaning) -> None:
        self._question = question
        self._named: dict[str, bool] = {}
        self._of_day: dict[str, float] = {}
        self._quotations = quotations(question)
        self._to_assistant: bool | None = None
        self._leaning = leaning
        self._times: list[Time] = []
        self._spans: list[Span] = []
        if may_name_time(question):
            from agent_memfas.text.asked_times import named_spans, named_times, nearness

            self._nearness = nearness
            self._times = named_times(question)
            if leaning.today:
                self._spans = named_spans(question, leaning.today)

    @property
    def need_texts(self) -> bool:
        """Whether the texts of passages are looked at."""
        return bool(self._quotations)

    def of(self, spot: Spot) -> dict[str, float]:
        """Name and weight of each that holds."""
        found = {}
        if spot.speaker:
            if self._is_named(spot.speaker):
                found["speaker"] = weights.SPEAKER
            if is_assistant(spot.speaker) and not self._asks_assistant():
                found["assistant"] = weights.ASSISTANT
        if spot.opens:
            found["opens"] = weights.OPENS
        if spot.asks == 2:
            found["asks"] = weights.ASKS
        if self._times or self._spans:
            near = self._nearness(spot.day, self._times, self._spans)
            if near:
                found["time"] = weights.TIME * near
        if recency := self._recency(spot.day):
            found["recency"] = recency
        if self._quotations and any(q in folded(spot.text) for q in self._quotations):
            found["quoted"] = weights.QUOTED
        return found

    def _recency(self, day: str) -> float:
        weight, today = self._leaning.recency_weight, self._leaning.today
        if not weight or today is None:
            return 0.0
        if day not in self._of_day:
            self._of_day[day] = weights.RECENCY * weight / aging(day, today, weight)
        return self._of_day[day]

    def _is_named(self, speaker: str) -> bool:
        if speaker not in self._named:
            self._named[speaker] = is_named(speaker, self._question)
        return self._named[speaker]

    def _asks_assistant(self) -> bool:
        if self._to_assistant is None:
            from agent_memfas.text.asked_times import asks_assistant

            self._to_assistant = asks_assistant(self._question)
        return self._to_assistant

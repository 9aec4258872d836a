"""Records: small values that cannot be changed and that cost nothing to import.

`dataclasses` takes 15 ms to load, half of a whole recall; what a recall passes along is made of
these instead.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_):  # noqa: D103 - stands in for the type checker's
        return lambda given: given


@dataclass_transform(eq_default=True, frozen_default=True)
class Record:
    """A frozen value. Its fields are the annotations of the class, in order; a default is the
    class attribute of that name. Equal, and of equal hash, where class and all fields are.
    """

    _fields: tuple[str, ...] = ()

    def __init_subclass__(cls) -> None:
        cls._fields = tuple(getattr(cls, "__annotations__", ()))

    def __init__(self, *values: Any, **named: Any) -> None:
        if not named and len(values) == len(self._fields):  # a question makes thousands of these
            self.__dict__.update(zip(self._fields, values, strict=True))
            return
        given = dict(zip(self._fields, values, strict=False), **named)
        fields = {name: given[name] if name in given else self._default(name)
                  for name in self._fields}  # fmt: skip
        if len(values) + len(named) > len(given) or len(given) > len(given.keys() & fields.keys()):
            raise TypeError(f"{type(self).__name__} takes {', '.join(self._fields)}")
        self.__dict__.update(fields)

    def _default(self, name: str) -> Any:
        try:
            return getattr(type(self), name)
        except AttributeError:
            raise TypeError(f"{type(self).__name__} needs {name}") from None

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in vars(self).items())})"

"""Reads OpenLineage events, one a line, into the models that the official client generates from the standard's JSON
Schema. Everything must have a place in a model, be of its type, and come out again as it went in."""

import enum
import json
import sys
import types
import typing

import attr
from openlineage.client import event_v2, facet_v2
from openlineage.client.generated import base
from openlineage.client.serde import Serde

FACETS = {
    "outputStatistics": facet_v2.output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet,
    "errorMessage": facet_v2.error_message_run.ErrorMessageRunFacet,
    "tags": facet_v2.tags_run.TagsRunFacet,
}


def model(cls, given, where):
    if not isinstance(given, dict):
        raise TypeError(f"{where}: expected {cls.__name__}, found {given!r}")
    hints = typing.get_type_hints(cls)
    fields = {each.name: each for each in attr.fields(cls)}
    unknown = set(given) - set(fields)
    if unknown:
        raise TypeError(f"{where}: {cls.__name__} has no {sorted(unknown)}")
    arguments = {
        name.lstrip("_"): value_of(hints[name], given[name], f"{where}.{name}", name)
        for name, field in fields.items()
        if field.init and name in given
    }
    made = cls(**arguments)
    for name in ("_schemaURL", "schemaURL"):
        if name in fields and getattr(made, name) != given.get(name):
            raise ValueError(f"{where}: {given.get(name)} is not {getattr(made, name)}")
    return made


def value_of(kind, given, where, key):
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        (kind,) = [each for each in typing.get_args(kind) if each is not type(None)]
        return value_of(kind, given, where, key)
    if origin is list:
        (inner,) = typing.get_args(kind)
        return [value_of(inner, each, f"{where}[{at}]", key) for at, each in enumerate(given)]
    if origin is dict:
        _, inner = typing.get_args(kind)
        return {name: value_of(inner, each, f"{where}.{name}", name) for name, each in given.items()}
    if attr.has(kind):
        if issubclass(kind, base.BaseFacet):
            kind = FACETS[key]
        return model(kind, given, where)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return kind(given)
    if kind is not typing.Any and type(given) is not kind:
        raise TypeError(f"{where}: expected {kind.__name__}, found {given!r}")
    return given


def dense(given):
    """Without what is empty: the models have an empty list where nothing was given."""
    if isinstance(given, dict):
        return {name: dense(each) for name, each in given.items() if each not in (None, [], {})}
    return [dense(each) for each in given] if isinstance(given, list) else given


for number, line in enumerate(sys.stdin, 1):
    given = json.loads(line)
    made = model(event_v2.RunEvent, given, f"event {number}")
    if dense(json.loads(Serde.to_json(made))) != dense(given):
        raise ValueError(f"event {number} comes out otherwise")
    print(given["eventType"])

"""Reads trace requests of OTLP, one a line, into the standard's own messages, which have a place for each field."""

import sys

from google.protobuf.json_format import Parse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Status

for line in sys.stdin:
    request = Parse(line, ExportTraceServiceRequest())
    for resource in request.resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                print(Status.StatusCode.Name(span.status.code))

"""Prints the samples of a file of metrics as JSON, as Prometheus' own client reads them."""

import json
import sys

from prometheus_client.parser import text_string_to_metric_families

samples = [
    {"type": family.type, "name": sample.name, "labels": sample.labels, "value": sample.value}
    for family in text_string_to_metric_families(sys.stdin.read())
    for sample in family.samples
]
print(json.dumps(samples))

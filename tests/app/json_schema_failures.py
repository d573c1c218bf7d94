"""Prints which documents a JSON Schema refuses, as {"name": "why"}: json_schema_failures.py SCHEMA DOCUMENTS, where
DOCUMENTS is a file with {"name": document}."""

import json
import sys

import jsonschema

with open(sys.argv[1], encoding="utf-8") as schema_file:
    schema = json.load(schema_file)
with open(sys.argv[2], encoding="utf-8") as documents_file:
    documents = json.load(documents_file)
jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema)
failures = {}
for name, document in documents.items():
    error = jsonschema.exceptions.best_match(validator.iter_errors(document))
    if error is not None:
        failures[name] = "/".join(str(part) for part in error.absolute_path) + ": " + error.message[:300]
print(json.dumps(failures))

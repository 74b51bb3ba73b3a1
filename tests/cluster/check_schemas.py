"""Checks every file of configs/ against its schema, and that the schemas refuse the bad files of
tests/data/bad/cluster, except those whose fault no schema can see. The same for the workloads of
tests/data/placement, and for placement specs: the example of docs/formats/placement-spec.md and the
corpus of their fuzz target.

usage: check_schemas.py SOURCE_FOLDER
"""

import json
import pathlib
import sys

import jsonschema

# Faults between two values, or in the text itself; the reader refuses them, a schema cannot.
BEYOND_A_SCHEMA = {
    "duplicate_device_names", "duplicate_keys", "duplicate_kind_names", "huge_latency", "huge_memory",
    "infinite_rate", "level_sizes_overflow", "level_sizes_product", "link_to_a_missing_device",
    "link_to_itself", "no_levels_no_links", "reserved_over_memory", "buffers_over_memory", "tiny_bandwidth",
    "unknown_kind", "unreachable_one_way", "unreachable_pair", "zero_bandwidth", "zero_memory",
}

# Placement specs that the reader refuses; of the second, the fault is between two values.
BAD_SPECS = {
    "bad_device", "composite_in_split", "cut", "mesh_empty", "no_spec", "odd_name", "two_kinds",
}
BAD_SPECS_BEYOND_A_SCHEMA = {"deep", "name_twice", "ragged"}


def placement_specs(source):
    """(sentences, files looked at)"""
    schema = json.loads((source / "docs/formats/placement-spec.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    check = jsonschema.Draft202012Validator(schema)
    page = (source / "docs/formats/placement-spec.md").read_text()
    example = json.loads(page.split("```json")[1].split("```")[0])
    wrong = [f"placement-spec.md: {e.json_path}: {e.message}" for e in check.iter_errors(example)]
    paths = sorted((source / "tests/fuzz/corpus/fuzz_placement_spec").glob("*.json"))
    for path in paths:
        try:
            valid = check.is_valid(json.loads(path.read_text()))
        except ValueError:
            valid = False  # not JSON
        if valid != (path.stem not in BAD_SPECS):
            wrong.append(f"{path}: the schema {'accepts' if valid else 'refuses'} it")
    missing = (BAD_SPECS | BAD_SPECS_BEYOND_A_SCHEMA) - {path.stem for path in paths}
    return wrong + [f"no placement spec {name}.json" for name in sorted(missing)], len(paths)


def validator(schemas, name):
    schema = schemas[name]
    jsonschema.Draft202012Validator.check_schema(schema)
    try:
        import referencing

        pairs = [(s["$id"], referencing.Resource.from_contents(s)) for s in schemas.values()]
        return jsonschema.Draft202012Validator(
            schema, registry=referencing.Registry().with_resources(pairs))
    except ImportError:  # before jsonschema 4.18
        store = {s["$id"]: s for s in schemas.values()}
        resolver = jsonschema.RefResolver.from_schema(schema, store=store)
        return jsonschema.Draft202012Validator(schema, resolver=resolver)


def main(source):
    source = pathlib.Path(source)
    schemas = {n: json.loads((source / f"configs/schema/{n}.schema.json").read_text())
               for n in ("device", "cluster", "backend", "measured")}
    wrong, seen = [], 0
    for kind, folder in (("device", "devices"), ("cluster", "clusters"), ("backend", "backends"),
                         ("measured", "measured")):
        check = validator(schemas, kind)
        for path in sorted((source / "configs" / folder).glob("*.json")):
            seen += 1
            wrong += [f"{path}: {e.json_path}: {e.message}"
                      for e in check.iter_errors(json.loads(path.read_text()))]
    check = validator(schemas, "cluster")
    for path in sorted((source / "tests/data/bad/cluster").glob("*.json")):
        seen += 1
        try:
            valid = check.is_valid(json.loads(path.read_text()))
        except (ValueError, RecursionError):
            valid = False  # not JSON
        if valid != (path.stem in BEYOND_A_SCHEMA):
            wrong.append(f"{path}: the schema {'accepts' if valid else 'refuses'} it")
    schema = json.loads((source / "docs/formats/workload.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    check = jsonschema.Draft202012Validator(schema)
    for path in sorted((source / "tests/data/placement").glob("*/*/*.json")):
        seen += 1
        wrong += [f"{path}: {e.json_path}: {e.message}"
                  for e in check.iter_errors(json.loads(path.read_text()))]
    sentences, n = placement_specs(source)
    wrong += sentences
    seen += n
    print("\n".join(wrong) or f"{seen} files as they should be")
    return 1 if wrong or seen < 50 else 0


sys.exit(main(sys.argv[1]))

"""Reading a notebook's source strictly: its parameters cell, and what must hold before it may run.

Papermill only warns about unknown parameters, accepts a notebook without a parameters cell and runs
one that carries old outputs; here each of these is an error.
"""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from privlib.experiments.workspace import ExperimentError

TAG = "parameters"
INJECTED = "injected-parameters"
HOUSE = ("profile", "data", "corpus", "seed")  # every notebook has these, read or not


@dataclass(frozen=True)
class Source:
    """A notebook that may run: its parameters with default values and the types that each accepts."""

    name: str
    path: Path
    defaults: dict[str, Any]
    types: dict[str, tuple[type, ...]]


def quick_nbformat():
    """The module nbformat, imported without the URI grammar that jsonschema would compile for it.

    That optional grammar takes 3.5 s a process and no notebook schema uses it.
    """
    blocked = "rfc3987_syntax" not in sys.modules
    if blocked:
        sys.modules["rfc3987_syntax"] = None  # an ImportError, which jsonschema expects
    try:
        import nbformat
        import nbformat.validator
    finally:
        if blocked:
            del sys.modules["rfc3987_syntax"]
    return nbformat


def read_source(path: Path) -> Source:
    """Read and check one committed notebook; raises ExperimentError saying what to mend.

    It must be valid nbformat 4.5 (cells have ids) without outputs or execution counts, name the kernel
    python3, have one code cell tagged `parameters` of plain assignments of literals, read each
    parameter somewhere below (the house's own excepted) and assign none of them again.
    """
    nbformat = quick_nbformat()
    name = path.stem
    try:
        notebook = nbformat.read(path, as_version=nbformat.NO_CONVERT)
        nbformat.validate(notebook)
    except Exception as error:
        raise ExperimentError(f"{name}: not a valid notebook: {str(error).splitlines()[0]}") from error
    if (notebook.nbformat, notebook.nbformat_minor) < (4, 5):
        raise ExperimentError(
            f"{name}: nbformat must be 4.5 (fixed cell ids), got {notebook.nbformat}.{notebook.nbformat_minor}"
        )
    kernel = notebook.metadata.get("kernelspec", {}).get("name")
    if kernel != "python3":
        raise ExperimentError(f"{name}: metadata.kernelspec.name must be 'python3', got {kernel!r}")
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    if any(cell.outputs or cell.execution_count is not None for cell in code):
        raise ExperimentError(f"{name}: is committed with outputs or execution counts: clear them")
    tagged = [cell for cell in code if TAG in cell.metadata.get("tags", [])]
    if len(tagged) != 1:
        raise ExperimentError(f"{name}: must have exactly one code cell tagged {TAG!r}, found {len(tagged)}")
    if any(INJECTED in cell.metadata.get("tags", []) for cell in notebook.cells):
        raise ExperimentError(f"{name}: holds a cell tagged {INJECTED!r}: it is an executed copy, not a source")
    defaults, types = parameters_of(tagged[0].source, name)
    if missing := [parameter for parameter in HOUSE if parameter not in defaults]:
        raise ExperimentError(f"{name}: the parameters cell lacks {', '.join(missing)}")
    _check_use(name, defaults, code[code.index(tagged[0]) + 1 :])
    return Source(name, path, defaults, types)


def parameters_of(cell: str, name: str) -> tuple[dict[str, Any], dict[str, tuple[type, ...]]]:
    """Values and accepted types of a cell of assignments of literals; raises ExperimentError for anything else.

    `x = 1.0` accepts what its default is; `x: int | None = None` accepts what it says.
    """
    try:
        body = ast.parse(cell).body
    except SyntaxError as error:
        raise ExperimentError(f"{name}: the {TAG} cell does not parse: {error.msg}, line {error.lineno}") from error
    defaults: dict[str, Any] = {}
    types: dict[str, tuple[type, ...]] = {}
    for statement in body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue  # a comment as a string
        annotation = None
        if isinstance(statement, ast.AnnAssign) and statement.value is not None:
            target, annotation = statement.target, ast.unparse(statement.annotation)
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
        else:
            raise ExperimentError(f"{name}: the {TAG} cell may only assign literals, got {ast.unparse(statement)!r}")
        if not isinstance(target, ast.Name) or target.id in defaults:
            raise ExperimentError(
                f"{name}: the {TAG} cell must assign each plain name once, got {ast.unparse(statement)!r}"
            )
        value = _literal(statement.value, name)
        defaults[target.id] = value
        types[target.id] = _accepted(target.id, value, annotation, name)
    return defaults, types


def check_values(source: Source, values: dict[str, Any], origin: str) -> None:
    """Raise ExperimentError unless every value is of a known parameter and of the type of its default."""
    if unknown := sorted(set(values) - set(source.defaults)):
        raise ExperimentError(
            f"{origin}: {source.name} has no parameter {', '.join(unknown)}; it has {', '.join(source.defaults)}"
        )
    for parameter, value in values.items():
        accepted = source.types[parameter]
        hint = ""
        if isinstance(value, str) and float in accepted and _looks_like_float(value):
            hint = " (YAML reads 1e-6 as a string: write 1.0e-6)"
        if type(value) not in accepted:
            names = " or ".join(kind.__name__ for kind in accepted)
            raise ExperimentError(
                f"{origin}: {source.name}.{parameter} must be {names}, got {type(value).__name__} {value!r}{hint}"
            )
        _check_inside(f"{origin}: {source.name}.{parameter}", source.defaults[parameter], value)


def _literal(node: ast.expr, name: str) -> Any:
    call = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node
    if isinstance(call, ast.Call) and ast.unparse(call.func) == "float" and len(call.args) == 1 and not call.keywords:
        value = float(_literal(call.args[0], name))  # papermill writes infinity so
        return value if call is node else -value
    if isinstance(node, (ast.List, ast.Tuple)):
        items = [_literal(item, name) for item in node.elts]
        return items if isinstance(node, ast.List) else tuple(items)
    if isinstance(node, ast.Dict) and all(key is not None for key in node.keys):
        return {_literal(key, name): _literal(value, name) for key, value in zip(node.keys, node.values, strict=True)}
    try:
        return ast.literal_eval(node)
    except ValueError as error:
        raise ExperimentError(f"{name}: parameters must be literals, got {ast.unparse(node)!r}") from error


_NAMES = {"int": int, "float": float, "str": str, "bool": bool, "list": list, "dict": dict, "None": type(None)}


def _accepted(parameter: str, value: Any, annotation: str | None, name: str) -> tuple[type, ...]:
    if annotation is not None:
        parts = [part.strip().split("[")[0] for part in annotation.split("|")]
        if any(part not in _NAMES for part in parts):
            raise ExperimentError(
                f"{name}: parameter {parameter} may be annotated with {', '.join(_NAMES)}, got {annotation!r}"
            )
        return tuple(_NAMES[part] for part in parts)
    if value is None:
        raise ExperimentError(
            f"{name}: parameter {parameter} is None and has no type: write `{parameter}: int | None = None`"
        )
    if isinstance(value, tuple):
        raise ExperimentError(f"{name}: parameter {parameter} must be a list, since YAML has no tuples")
    return (type(value),)


def _check_inside(where: str, default: Any, value: Any) -> None:
    if isinstance(default, list) and default and isinstance(value, list):
        kinds = {type(item) for item in default}
        for item in value:
            if type(item) not in kinds:
                wanted = " or ".join(sorted(kind.__name__ for kind in kinds))
                hint = " (write 1.0, and 1.0e-6)" if kinds == {float} else ""
                raise ExperimentError(f"{where} must hold {wanted}, got {type(item).__name__} {item!r}{hint}")
            _check_inside(where, default[0], item)
    if isinstance(default, dict) and isinstance(value, dict):
        for key in default.keys() & value.keys():
            if type(default[key]) is not type(value[key]):
                raise ExperimentError(
                    f"{where}[{key!r}] must be {type(default[key]).__name__}, got {type(value[key]).__name__}"
                )
            _check_inside(f"{where}[{key!r}]", default[key], value[key])


def _looks_like_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _check_use(name: str, defaults: dict[str, Any], cells: list) -> None:
    """A parameter that nothing reads, or that a later cell sets again, would make the record tell a lie."""
    read: set[str] = set()
    for cell in cells:
        try:
            tree = ast.parse(_without_magics(cell.source))
        except SyntaxError as error:
            raise ExperimentError(
                f"{name}: cell {cell.id!r} does not parse: {error.msg}, line {error.lineno}"
            ) from error
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                read.add(node.id)
        for node in _top_level(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in defaults:
                raise ExperimentError(f"{name}: cell {cell.id!r} assigns the parameter {node.id} again")
    if unread := [parameter for parameter in defaults if parameter not in read and parameter not in HOUSE]:
        raise ExperimentError(f"{name}: no cell reads the parameter {', '.join(unread)}")


def _top_level(tree: ast.AST):
    """All nodes outside functions, classes and comprehensions, which have names of their own."""
    own = (ast.FunctionDef, ast.Lambda, ast.ClassDef, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    for child in ast.iter_child_nodes(tree):
        if not isinstance(child, own):
            yield child
            yield from _top_level(child)


def _without_magics(source: str) -> str:
    return "\n".join("pass" if line.startswith(("%", "!")) else line for line in source.splitlines())

"""What attacks on networks of an engine have found so far, on disk, to go on from there after an interruption."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path

from unmask.core.errors import FailedError, UnmaskError
from unmask.data.engine import Engine
from unmask.graphs.stored import queries
from unmask.graphs.stored.loading import Network


@dataclass(frozen=True)
class Progress:
    """How far an attack is, besides its mapping; `sweeps` and `wedges` as in `Mapped`, of the passes that are made."""

    sweeps: tuple[int, ...] = ()
    wedges: int = 0


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A folder that holds, for each of several attacks, what it had found after its last whole pass.

    folder : {attack}.json is how far an attack is, and what it attacks; {attack}-{passes}.parquet its mapping, a file
             or a folder, by node numbers: those of `load`, the same for the same ids in any file and either engine.
             The first is replaced in one step after the second is whole, so that any interruption leaves a valid pair.
             What has ended stays, and need not be run again; the folder is the user's to remove
    inputs : what the networks and seeds are: numbers of nodes, links, seeds, and sums of their hashes, in any order
    """

    engine: Engine
    folder: Path
    inputs: Mapping[str, list[int]]

    @classmethod
    def open(cls, folder: str | PathLike[str], auxiliary: Network, target: Network, seeds: str = "seeds") -> Checkpoint:
        """The checkpoints of attacks on these networks from this table of seeds; the folder is made if there is none.

        >>> from tempfile import TemporaryDirectory
        >>> import numpy as np
        >>> from unmask.data.engine import open_engine
        >>> from unmask.graphs.stored import load
        >>> with TemporaryDirectory() as folder, open_engine() as engine:
        ...     _ = Path(folder, "links.csv").write_text(chr(10).join(["u,v", "a,b", "b,c"]))
        ...     network = load(engine, f"{folder}/links.csv", name="w")
        ...     engine.put("seeds", {"source": np.array([0]), "target": np.array([0])})
        ...     checkpoint = Checkpoint.open(folder, network, network)
        ...     checkpoint.save("an attack", "seeds", Progress((3,), 7))
        ...     Checkpoint.open(folder, network, network).progress("an attack")
        Progress(sweeps=(3,), wedges=7)
        """
        path = Path(folder).absolute()
        if re.search(r"[*?\[\]{}]|::", str(path)):
            raise UnmaskError(
                f"checkpoint folder {path.name!r} has one of * ? [ ] {{ }} :: in its path, which stand for other "
                "files in an engine; name another"
            )
        try:
            path.mkdir(exist_ok=True)
        except OSError as error:
            raise FailedError(f"checkpoint folder {path.name!r} cannot be made: {error.strerror}") from None
        inputs = {"auxiliary network": _sums(auxiliary), "released network": _sums(target)}
        inputs["list of seeds"] = _sum(auxiliary.engine, queries.hashed_pairs(seeds, "source", "target"))
        return cls(auxiliary.engine, path, inputs)

    def progress(self, adversary: object) -> Progress:
        """How far an attack is; refused where its checkpoint is of other networks or seeds."""
        return self._read(adversary)[0]

    def restore(self, adversary: object, table: str) -> Progress:
        """`progress`, and if there is any, the mapping so far as table (source, target)."""
        progress, mapping = self._read(adversary)
        if mapping is not None:
            self.engine.table(f"{table}_saved", str(mapping), {"s": "source", "t": "target"})
            pairs = f"select cast(s as integer) as source, cast(t as integer) as target from {table}_saved"
            self.engine.keep(table, pairs, cut=True)
        return progress

    def save(self, adversary: object, table: str, progress: Progress) -> None:
        """Keep a mapping, table (source, target), in place of the one before."""
        stem = _stem(adversary)
        mapping = self.folder / f"{stem}-{len(progress.sweeps)}.parquet"
        pairs = f"select source, target from {table}"
        self.engine.write_parquet(pairs, mapping, {"source": "source", "target": "target"}, order=["source"])
        kept = {"attack": repr(adversary), "inputs": self.inputs, "mapping": mapping.name, **asdict(progress)}
        part = self.folder / f"{stem}.part"
        try:
            part.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
            part.replace(self.folder / f"{stem}.json")
            for old in (*self.folder.glob(f"{stem}-*"), *self.folder.glob(f".{stem}-*")):  # a killed run leaves parts
                if old != mapping:
                    _remove(old)
        except OSError as error:
            raise FailedError(f"checkpoint {stem!r} cannot be written: {error.strerror or error}") from None

    def _read(self, adversary: object) -> tuple[Progress, Path | None]:
        """How far an attack is, and its mapping if there is any."""
        path = self.folder / f"{_stem(adversary)}.json"
        try:
            kept = json.loads(path.read_text(encoding="utf-8"))
            other = [what for what, sums in self.inputs.items() if kept["inputs"][what] != sums]
            progress, mapping = Progress(tuple(kept["sweeps"]), kept["wedges"]), self.folder / kept["mapping"]
        except FileNotFoundError:
            return Progress(), None
        except (OSError, ValueError, KeyError, TypeError):
            raise FailedError(f"checkpoint {path.name!r} cannot be read; remove it to begin anew") from None
        if other:
            raise UnmaskError(
                f"checkpoint {path.name!r} is of another {' and another '.join(other)}; give those that it is of, "
                "another folder (--checkpoint), or remove it to begin anew"
            )
        if not mapping.exists():
            raise FailedError(f"checkpoint {path.name!r} has lost its file {mapping.name!r}; remove it to begin anew")
        return progress, mapping


def _stem(adversary: object) -> str:
    """The name of an attack in a folder: its class, and a hash of its parameters."""
    return f"{type(adversary).__name__}-{hashlib.sha256(repr(adversary).encode()).hexdigest()[:8]}"


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


def _sums(network: Network) -> list[int]:
    """Of the ids and of the links: how many, and the sum of their hashes."""
    links = f"(select node, neighbor from {network.name}_link where node < neighbor) once"
    hashed = queries.hashed_ids(network.name), queries.hashed_pairs(links, "node", "neighbor")
    return [number for one in hashed for number in _sum(network.engine, one)]


def _sum(engine: Engine, hashed: str) -> list[int]:
    found = engine.rows(f"select count(*) as n, cast(coalesce(sum(hash), 0) as bigint) as total from ({hashed}) hashed")
    return [int(found["n"][0]), int(found["total"][0])]

"""Completion of the first argument of a command, whose second word may name another command."""

from __future__ import annotations

from typing import Any

import click
from click.shell_completion import CompletionItem

from unmask.cli.generated import Command


def second_words(ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    """Return the words that name another command after this one: `graph` after `audit`."""
    root, prefix = ctx.find_root(), f"{ctx.command.name} "
    group: Any = root.command
    commands = [name for name in group.list_commands(root) if name.startswith(f"{prefix}{incomplete}")]
    return [CompletionItem(name.removeprefix(prefix), help=group.summarize(root, name)) for name in commands]


def first_argument(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a file, or the second word of a command."""
    return [*second_words(ctx, incomplete), CompletionItem(incomplete, type="file")]


class TwoWordCommand(Command):
    """A command without an argument; a second word after it may name another command."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete an option or a second word."""
        return [*second_words(ctx, incomplete), *super().shell_complete(ctx, incomplete)]

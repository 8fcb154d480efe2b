"""The publisher's game of a document: choose release, price and fine against attackers who plan campaigns."""

from unmask.studies.game.game_result import describe_in_study, make_result
from unmask.studies.game.solution import play, priced, read_game, write_game

__all__ = ["describe_in_study", "make_result", "play", "priced", "read_game", "write_game"]

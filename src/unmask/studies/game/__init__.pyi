"""Public names of `unmask.studies.game`."""

from unmask.studies.game.game_result import describe_in_study as describe_in_study
from unmask.studies.game.game_result import make_result as make_result
from unmask.studies.game.solution import play as play
from unmask.studies.game.solution import priced as priced
from unmask.studies.game.solution import read_game as read_game
from unmask.studies.game.solution import write_game as write_game

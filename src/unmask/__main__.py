"""`python -m unmask` is the command `unmask`."""

from unmask_command import main

if __name__ == "__main__":
    main()

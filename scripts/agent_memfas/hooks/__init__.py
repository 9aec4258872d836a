"""Agent hosts: what their hooks ask, what they are answered, how they are set up and left again.

Nothing here prints, asks the clock or looks at the environment: `cli.hooking` and `cli.hosting` do.
"""

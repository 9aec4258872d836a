"""Tests of several agents and machines on one memory."""

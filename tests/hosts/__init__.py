"""Tests of agent hosts: hooks, install and uninstall."""

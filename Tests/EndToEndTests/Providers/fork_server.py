# SPDX-License-Identifier: Apache-2.0
"""Runs scripts in forked processes, so that the packages of all scripts are imported once.

Each line of standard input is an object with "arguments" (the script and its arguments), "input", "output" and
"errors" (paths to which the script's standard streams are connected). Each gets one line on standard output: the
process ID.
"""
import asyncio
import ctypes
import http.server
import json
import os
import runpy
import signal
import ssl
import subprocess
import sys
import threading

import aioapns
import h2.connection
import hpack
import jwt
import websockets
from cryptography.hazmat.primitives.ciphers import aead

PR_SET_PDEATHSIG = 1


def run(order):
    """Becomes the script's process."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, (name, flags) in enumerate([
            ("input", os.O_RDONLY), ("output", os.O_WRONLY | os.O_APPEND), ("errors", os.O_WRONLY | os.O_APPEND)]):
        descriptor = os.open(order[name], flags)
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdin, sys.stdout = open(0), open(1, "w", buffering=1)
    sys.stderr = open(2, "w", buffering=1)
    sys.argv = order["arguments"]
    sys.path[0] = os.path.dirname(sys.argv[0])
    runpy.run_path(sys.argv[0], run_name="__main__")


# The kernel removes children that have ended at once.
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
# Unbuffered, so that a forked process inherits no orders of others.
rest = b""
while data := os.read(0, 65536):
    *lines, rest = (rest + data).split(b"\n")
    for line in lines:
        process = os.fork()
        if process == 0:
            run(json.loads(line))
            os._exit(0)
        print(process, flush=True)

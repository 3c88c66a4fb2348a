# SPDX-License-Identifier: Apache-2.0
"""Runs the cases against a server, or lists them.

  run.py --list                                                 every case, one JSON object a line
  run.py --env-file FILE --admin-socket PATH [ID-PREFIX …]      runs them; with --json one object a line

FILE is the output file of `posthornd --ephemeral --full --env-file FILE`. Exits with 1 when a case failed.
"""
import argparse
import concurrent.futures
import importlib
import json
import pathlib
import sys
import time
import traceback

from answers import STATUS
from catalogue import CASES, RECORD, Answer, Case, Unmet, expect_answer

FOLDER = pathlib.Path(__file__).parent
LETTERS = "TPACHBDRMXQE"


def load():
    """Returns all cases, in the order of their letters and numbers."""
    for file in sorted((FOLDER / "cases").glob("*.py")):
        importlib.import_module(f"cases.{file.stem}")
    CASES["R-08"] = Case("R-08", "every reason of every case", "is documented by Apple with this status", None)
    return sorted(CASES.values(), key=lambda case: (LETTERS.index(case.id[0]), case.id))


def run(case, stack):
    """Runs a case, and returns its findings."""
    RECORD.local.case = case.id
    begin, found = time.monotonic(), ""
    try:
        exchange = case.run(stack)
        if isinstance(case.wanted, Answer):
            if exchange is None:
                raise Unmet("the case has no answer to compare")
            expect_answer(exchange, case.wanted)
    except Unmet as unmet:
        found = str(unmet)
    except KeyError as missing:
        found = f"the server's --env-file has no {missing}" if "APNS_" in str(missing) else traceback.format_exc()
    except Exception:  # any error belongs to this case, and the others continue
        found = traceback.format_exc()
    return {"id": case.id, "found": found, "seconds": round(time.monotonic() - begin, 3)}


def run_all(cases, stack, workers):
    """Runs cases in parallel, because they mostly wait, and then those that must run alone."""
    waiting = sorted((case for case in cases if case.run), key=lambda case: not case.slow)
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        together = [pool.submit(run, case, stack) for case in waiting if not case.alone]
        for future in concurrent.futures.as_completed(together):
            yield future.result()
    for case in waiting:
        if case.alone:
            yield run(case, stack)
    if any(case.id == "R-08" for case in cases):
        unknown = sorted(reason for reason in RECORD.reasons if reason not in STATUS)
        yield {"id": "R-08", "found": f"got {unknown}" if unknown else "", "seconds": 0}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--env-file")
    parser.add_argument("--admin-socket")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("prefixes", nargs="*")
    options = parser.parse_args()
    cases = [case for case in load() if not options.prefixes or case.id.startswith(tuple(options.prefixes))]
    if options.list:
        for case in cases:
            print(json.dumps({"id": case.id, "request": case.request, "wanted": str(case.wanted), "note": case.note}))
        return 0
    from stack import Stack
    from server import read_variables
    stack = Stack(read_variables(options.env_file), options.admin_socket)
    failed = 0
    for outcome in run_all(cases, stack, options.workers):
        failed += bool(outcome["found"])
        if options.json:
            print(json.dumps(outcome), flush=True)
        elif outcome["found"]:
            print(f"{outcome['id']} {CASES[outcome['id']].request}: want {CASES[outcome['id']].wanted}, "
                  f"{outcome['found']}", flush=True)
    reasons = {reason: sorted(ids) for reason, ids in sorted(RECORD.reasons.items())}
    print(json.dumps({"reasons": reasons}) if options.json else f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

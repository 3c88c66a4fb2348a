# SPDX-License-Identifier: Apache-2.0
"""Runs attacks against a real posthornd: run.py [--long] [--json] [--list] [NAME ...]; POSTHORN_SERVER is its path."""
import argparse
import json
import sys

import attacks_on_budgets  # noqa: F401
import attacks_on_life  # noqa: F401
import attacks_on_memory  # noqa: F401
import attacks_on_tenants  # noqa: F401
import attacks_on_time  # noqa: F401
from battle import Attack, Battle


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="which attacks; all when none is named")
    parser.add_argument("--long", action="store_true", help="in full size")
    parser.add_argument("--json", action="store_true", help="one JSON object for each attack")
    parser.add_argument("--list", action="store_true", help="names and findings only")
    options = parser.parse_args()
    unknown = set(options.names) - {attack.name for attack in Attack.all}
    if unknown:
        parser.error(f"no such attack: {', '.join(sorted(unknown))}")
    chosen = [attack for attack in Attack.all if not options.names or attack.name in options.names]
    failed = 0
    for attack in chosen:
        if options.list:
            print(attack.name, attack.finding)
            continue
        battle = Battle(attack, options.long).run()
        failed += bool(battle.problems)
        print(json.dumps(battle.report()) if options.json else battle.line(), flush=True)
    if not options.json and not options.list:
        print(f"{len(chosen) - failed} of {len(chosen)} attacks passed")
    return 1 if failed and not options.json else 0


if __name__ == "__main__":
    sys.exit(main())

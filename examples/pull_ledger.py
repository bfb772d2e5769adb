#!/usr/bin/env python3
"""Close an attempt and pull its ledger. Standard library only.

    GYM_PROXY_CONTROL_TOKEN=... python3 examples/pull_ledger.py http://127.0.0.1:8080 group_g0

Prints the ledger as JSON. Exits 0 when it is complete, 3 when calls are still
pending (their rollout must not be trained on), 1 when the proxy refuses.
"""

import argparse
import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request


def close_attempt(control_url, attempt, token, wait_s=300):
    """Close admissions, wait for running calls, and return the ledger."""
    name = urllib.parse.quote(attempt, safe="")
    url = f"{control_url.rstrip('/')}/ledger/{name}/close?wait_s={wait_s}"
    request = urllib.request.Request(url, data=b"{}", method="POST")
    request.add_header("authorization", f"Bearer {token}")
    request.add_header("content-type", "application/json")
    with urllib.request.urlopen(request, timeout=wait_s + 60) as response:
        return json.load(response)


def main():
    parser = argparse.ArgumentParser(description="close an attempt and pull its ledger")
    parser.add_argument("control_url", help="the proxy's control side, without a path")
    parser.add_argument("attempt")
    parser.add_argument("--wait-s", type=int, default=300, help="how long to wait for running calls")
    args = parser.parse_args()
    token = os.environ.get("GYM_PROXY_CONTROL_TOKEN", "")
    try:
        ledger = close_attempt(args.control_url, args.attempt, token, args.wait_s)
    except urllib.error.HTTPError as error:
        print(f"{error.code}: {error.read().decode(errors='replace')}", file=sys.stderr)
        return 1
    except urllib.error.URLError as error:
        print(f"{args.control_url} cannot be reached: {error.reason}", file=sys.stderr)
        return 1
    json.dump(ledger, sys.stdout)
    print()
    return 0 if ledger["complete"] else 3


if __name__ == "__main__":
    sys.exit(main())

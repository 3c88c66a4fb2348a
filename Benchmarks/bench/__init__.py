# SPDX-License-Identifier: Apache-2.0
"""Measures posthornd and its peers, as described in Benchmarks/README.md. Requires only Python's standard library."""

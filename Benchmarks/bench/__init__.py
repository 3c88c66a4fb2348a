# SPDX-License-Identifier: Apache-2.0
"""Measures posthornd beside its peers: see Benchmarks/README.md. Nothing but Python's own library is needed."""

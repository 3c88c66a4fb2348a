// SPDX-License-Identifier: Apache-2.0

internal import Testing

/// Real programs, one test after the other: each starts several processes, and the machine may be small.
@Suite(.serialized) enum EndToEnd {}

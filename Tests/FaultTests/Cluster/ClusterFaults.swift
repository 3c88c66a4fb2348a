// SPDX-License-Identifier: Apache-2.0

internal import TestSupport
internal import Testing

/// Runs three real nodes on three PostgreSQL servers while some of them, or the connections between them, fail.
///
/// The tests are serialized, because each starts a dozen processes.
@Suite(.serialized, .needsPostgres) enum ClusterFaults {}

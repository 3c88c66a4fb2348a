// SPDX-License-Identifier: Apache-2.0

extension ClusterAPI {
    /// The codes of the problems of a cluster, for scripts and metrics; they never change.
    public enum ProblemCode: String, CaseIterable, Sendable {
        case notConnected = "not-connected"
        case noLease = "no-lease"
        case oldVersion = "old-version"
        case standby
        case noFsync = "no-fsync"
        case noFullPageWrites = "no-full-page-writes"
        case noSynchronousStandby = "no-synchronous-standby"
        case noConnectedStandby = "no-connected-standby"
        case oneConnectedStandby = "one-connected-standby"
        case hiddenStandbys = "hidden-standbys"
        case weakCommit = "weak-commit"
        case noTLS = "no-tls"
        case oldTransaction = "old-transaction"
        case oldSlot = "old-slot"
        case oldFeedback = "old-feedback"
        case nodeNotLive = "node-not-live"
        case tooFewNodes = "too-few-nodes"
        case linkDown = "link-down"
        case sameAddress = "same-address"
        case shardNotUsed = "shard-not-used"
        case noAnswer = "no-answer"
        case clockDiffers = "clock-differs"
        case numbersAhead = "numbers-ahead"
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet

/// Whether the server can do its work: the store can write, and clients accept the certificate.
struct ReadinessCheck {
    var diskFullSince: Timestamp?
    /// The time since the store's current turn began.
    var storeTurnNanoseconds: Int64
    /// The end of the certificate's validity; nil if the certificate cannot be read.
    var certificateExpiry: Timestamp?
    var now: Timestamp
    /// Whether the node of a cluster sends its devices away.
    var isDraining = false
    /// Whether PostgreSQL does not commit what the node of a cluster writes.
    var isSuspended = false

    /// The problems, one sentence each; none if the server is ready.
    var problems: [String] {
        var problems: [String] = []
        if let diskFullSince {
            let time = EventLog.timeText(unixSeconds: diskFullSince.unixSeconds)
            problems.append("The disk has been full since \(time). Free space.")
        }
        if isSuspended { problems.append("PostgreSQL does not commit. Run 'posthorn cluster status'.") }
        if isDraining {
            problems.append("The node takes no devices, because an administrator has drained it.")
        }
        let seconds = storeTurnNanoseconds / 1_000_000_000
        if seconds >= Limits.storeTurnDurationMax.components.seconds {
            problems.append("The store has not answered for \(seconds) seconds. Check the disk.")
        }
        guard let certificateExpiry else { return problems + ["The server's certificate cannot be read."] }
        if certificateExpiry <= now {
            let time = EventLog.timeText(unixSeconds: certificateExpiry.unixSeconds)
            problems.append("The server's certificate expired at \(time). Renew it.")
        }
        return problems
    }
}

// SPDX-License-Identifier: Apache-2.0

/// The bounds of messages between nodes, which both ends keep.
package enum NodeMessageLimits {
    /// The maximum number of notifications in a `push`, and of answers in a `pushed`.
    package static let notificationCountMax = 256
    /// The maximum size of the payloads in a `push`, in bytes.
    package static let payloadByteCountMax = 512 << 10
    /// The maximum number of devices that one message names.
    package static let deviceCountMax = 1 << 16
    /// The maximum number of subjects in a `rates`.
    package static let subjectCountMax = 1024
    /// The maximum size of a subject's name, in bytes.
    package static let subjectByteCountMax = 512
    /// The maximum number of a notification or an attachment; the receiver can make higher ones without an overflow.
    package static let idMax = Int64.max - 1 << 32
    /// The maximum size of a packet in bytes; each message within the other bounds fits into one.
    package static let packetByteCountMax = 1 << 20
}

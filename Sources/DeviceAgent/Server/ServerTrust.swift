// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushCore
internal import PushCurl

/// The authorities that requests to a server trust; a change applies to the next connection.
final class ServerTrust {
    /// The PEM file of the authorities; nil for those of the operating system.
    private(set) var caFile: String?
    /// The PEM text of the authorities, in place of a file; nil to use the file.
    private var caText: [UInt8]?
    /// Whether the authorities of the operating system are trusted, too.
    private(set) var includesSystem: Bool
    /// The time at which the trust in one of the authorities ends; nil if none ends early.
    private(set) var changesAt: Timestamp?

    /// Creates the trust in the authorities of a file, or in those of the operating system if the path is empty.
    init(caFile: String, includesSystem: Bool = false, changesAt: Timestamp? = nil) {
        self.caFile = caFile.isEmpty ? nil : caFile
        self.includesSystem = includesSystem
        self.changesAt = changesAt
    }

    /// Creates the trust in a set alone, before it is stored.
    ///
    /// The certificates stay in memory, so two checks at the same time cannot read those of each other.
    ///
    /// - Parameters:
    ///   - candidate: The set; not empty.
    ///   - now: The current time; authorities that are no longer trusted do not count.
    init(candidate: [TrustedAuthority], now: Timestamp) {
        let valid = candidate.valid(at: now)
        let certificates = valid.compactMap(\.certificate)
        caText = certificates.isEmpty ? nil : Array(certificates.joined(separator: "\n").utf8)
        includesSystem = valid.count > certificates.count
    }

    /// Replaces the authorities by those of another value.
    func adopt(_ other: ServerTrust) {
        (caFile, caText) = (other.caFile, other.caText)
        (includesSystem, changesAt) = (other.includesSystem, other.changesAt)
    }

    /// Applies the authorities to a request.
    func apply(to request: inout HTTPRequest) {
        request.caFile = caFile
        request.caText = caText
        request.alsoTrustsSystem = includesSystem
    }
}

extension [TrustedAuthority] {
    /// Returns the authorities whose trust has not ended; all of them if none is left.
    ///
    /// A clock that is wrong must not end all trust.
    ///
    /// - Parameter now: The current time.
    /// - Returns: The authorities in their order.
    func valid(at now: Timestamp) -> [TrustedAuthority] {
        let valid = filter { $0.until.map { now < $0 } ?? true }
        return valid.isEmpty ? self : valid
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushCurl

/// The authorities that requests to a server trust; a change applies to the next connection.
final class ServerTrust {
    /// The PEM file of the authorities; nil for those of the operating system.
    private(set) var caFile: String?
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

    /// Replaces the authorities by those of another value.
    func adopt(_ other: ServerTrust) {
        (caFile, includesSystem, changesAt) = (other.caFile, other.includesSystem, other.changesAt)
    }

    /// Applies the authorities to a request.
    func apply(to request: inout HTTPRequest) {
        request.caFile = caFile
        request.alsoTrustsSystem = includesSystem
    }
}

// SPDX-License-Identifier: Apache-2.0

public import PushCore

extension DeviceAPI {
    /// The response of `GET /v1/authorities`: the authorities that a device trusts for this server from now on.
    public struct Authorities: Codable, Sendable, Equatable {
        /// The version, which grows with each change.
        public var version: Int64
        /// Whether the authorities of the device's operating system are trusted too.
        public var system: Bool
        public var authorities: [Authority]

        public init(version: Int64, system: Bool, authorities: [Authority]) {
            self.version = version
            self.system = system
            self.authorities = authorities
        }
    }

    /// An authority in `Authorities`.
    public struct Authority: Codable, Sendable, Equatable {
        /// The certificate in PEM.
        public var certificate: String
        /// The time at which the device stops trusting it; nil for the end of the certificate's validity.
        public var until: Timestamp?

        public init(certificate: String, until: Timestamp? = nil) {
            self.certificate = certificate
            self.until = until
        }
    }

    /// The body of `PUT /v1/authorities`.
    public struct AuthorityConfirmation: Codable, Sendable {
        /// The version that the device trusts now.
        public var version: Int64

        public init(version: Int64) { self.version = version }
    }
}

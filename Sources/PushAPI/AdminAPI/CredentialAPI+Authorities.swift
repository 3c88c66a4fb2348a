// SPDX-License-Identifier: Apache-2.0

public import PushCore

extension CredentialAPI {
    /// The response of the requests under `/v1/authorities`.
    public struct Authorities: Codable, Sendable, Equatable {
        /// The version of the announced set, which grows with each change; 0 if nothing was ever announced.
        public var version: Int64
        /// The number of enrolled devices.
        public var devices: Int
        /// The number of devices that do not trust the server's present certificate.
        public var cutOff: Int
        /// The server's own authority, and the announced ones.
        public var authorities: [Authority]

        public init(version: Int64, devices: Int, cutOff: Int, authorities: [Authority]) {
            self.version = version
            self.devices = devices
            self.cutOff = cutOff
            self.authorities = authorities
        }

        private enum CodingKeys: String, CodingKey {
            case version, devices, authorities
            case cutOff = "cut_off"
        }
    }

    /// The role of an authority.
    public enum AuthorityRole: String, Codable, Sendable {
        /// The server's own authority, which issues certificates.
        case current
        /// The server's own authority after the next rotation.
        case next
        /// The server's own authority before a rotation.
        case previous
        /// An authority from a file.
        case file
        /// The authorities of each device's operating system.
        case system
    }

    /// An authority that devices trust or will trust.
    public struct Authority: Codable, Sendable, Equatable {
        /// The SHA-256 of the certificate in hexadecimal digits; `system` for the operating system's authorities.
        public var id: String
        public var role: AuthorityRole
        /// The code for `posthorn agent trust`; nil for the operating system's authorities.
        public var code: String?
        /// The subject of the certificate.
        public var subject: String?
        /// The end of the certificate's validity.
        public var expiresAt: Timestamp?
        /// The time at which devices stop trusting the authority; nil without an earlier end.
        public var until: Timestamp?
        /// Whether devices learn of the authority.
        public var announced: Bool
        /// Whether the server's present certificate leads to the authority.
        public var serving: Bool
        /// The number of devices that trust the authority.
        public var devices: Int
        /// The certificate in PEM; nil for the operating system's authorities.
        public var certificate: String?

        public init(id: String, role: AuthorityRole, announced: Bool, serving: Bool, devices: Int) {
            self.id = id
            self.role = role
            self.announced = announced
            self.serving = serving
            self.devices = devices
        }

        private enum CodingKeys: String, CodingKey {
            case id, role, code, subject, until, announced, serving, devices, certificate
            case expiresAt = "expires_at"
        }
    }

    /// The body of `POST /v1/authorities`.
    public struct NewAuthority: Codable, Sendable {
        /// `file`, `system` or `current`.
        public var role: AuthorityRole
        /// The certificates in PEM, for the role `file`.
        public var certificate: String?

        public init(role: AuthorityRole, certificate: String? = nil) {
            self.role = role
            self.certificate = certificate
        }
    }

    /// The body of `POST /v1/authorities/rotation` and of `POST /v1/authorities/removal`.
    public struct AuthorityChange: Codable, Sendable {
        /// Whether the rotation is completed; otherwise it begins.
        public var complete: Bool?
        /// The authority to remove.
        public var id: String?
        /// Whether devices may be cut off.
        public var force: Bool?

        public init(complete: Bool? = nil, id: String? = nil, force: Bool? = nil) {
            self.complete = complete
            self.id = id
            self.force = force
        }
    }
}

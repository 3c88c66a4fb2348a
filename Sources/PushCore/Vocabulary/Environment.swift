// SPDX-License-Identifier: Apache-2.0

/// Which of the two worlds a token, key, certificate or channel belongs to; nothing crosses from one to the other.
///
/// A request's environment is that of the port, or of the server name, on which its connection came in.
public enum Environment: String, CaseIterable, Codable, Sendable {
    /// What `api.push.apple.com` is.
    case production
    /// What `api.sandbox.push.apple.com` is.
    case development

    /// The other one.
    public var other: Environment {
        switch self {
        case .production: .development
        case .development: .production
        }
    }
}

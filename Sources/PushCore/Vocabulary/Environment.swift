// SPDX-License-Identifier: Apache-2.0

/// The environment of a token, key, certificate or channel; the two environments are fully separate.
///
/// The port or the server name of the connection determines the environment of a request.
public enum Environment: String, CaseIterable, Codable, Sendable {
    /// The counterpart of `api.push.apple.com`.
    case production
    /// The counterpart of `api.sandbox.push.apple.com`.
    case development

    /// The opposite environment.
    public var other: Environment {
        switch self {
        case .production: .development
        case .development: .production
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

/// The environment in which a command runs.
package struct CommandContext: Sendable {
    let environment: [String: String]
    /// Whether the effective user is root.
    let isRoot: Bool

    /// Returns the environment variable; nil if it is unset or empty.
    func variable(_ name: String) -> String? {
        guard let value = environment[name], !value.isEmpty else { return nil }
        return value
    }
}

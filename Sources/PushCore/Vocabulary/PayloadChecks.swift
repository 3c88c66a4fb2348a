// SPDX-License-Identifier: Apache-2.0

/// The mode of an app's payload checks; docs/reference/payload-checks.md describes the checks.
public enum PayloadChecks: String, CaseIterable, Codable, Sendable {
    /// The server does not check payloads.
    case off
    /// The server reports findings in `posthorn-warning` headers and accepts the notification.
    case warn
    /// The server also reports findings, and refuses a notification with a finding of severity E.
    case strict
}

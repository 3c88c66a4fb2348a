// SPDX-License-Identifier: Apache-2.0

/// How an app wants its payloads judged by the checks of docs/reference/payload-checks.md.
public enum PayloadChecks: String, CaseIterable, Codable, Sendable {
    /// Not at all.
    case off
    /// What they find goes out in `posthorn-warning` headers; the notification is accepted.
    case warn
    /// As `warn`, and a finding of severity E refuses the notification.
    case strict
}

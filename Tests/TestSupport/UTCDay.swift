// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The UTC day, by which a server counts daily quotas.
package enum UTCDay {
    /// Waits until after midnight (UTC) if it is less than a minute away, so that a test runs within one day.
    package static func waitForRoom() async throws {
        let space = 60 * Double(Patience.factor)
        let left = 86_400 - Date().timeIntervalSince1970.truncatingRemainder(dividingBy: 86_400)
        if left < space { try await Task.sleep(for: .seconds(left + 1)) }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import CSystemd

/// Notifications for the service manager (sd_notify); without a service manager they do nothing.
package enum ServiceManager {
    /// Sends a state such as `READY=1`, with errors ignored, as sd_notify(3) recommends.
    package static func notify(_ state: String) { _ = unsafe sd_notify(0, state) }
}

// SPDX-License-Identifier: Apache-2.0

internal import CSystemd

/// systemd's sd_notify: nothing happens when no manager listens.
package enum ServiceManager {
    /// Tells the service manager, for example `READY=1`; best effort, as sd_notify(3) advises.
    package static func notify(_ state: String) { _ = unsafe sd_notify(0, state) }
}

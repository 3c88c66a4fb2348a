// SPDX-License-Identifier: Apache-2.0

/// The reason why a notification no longer waits for its device.
package enum RemovalReason: Sendable {
    case acknowledged, collapsed, expired, dropped, unregistered
}

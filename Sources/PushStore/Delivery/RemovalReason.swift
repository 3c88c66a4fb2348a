// SPDX-License-Identifier: Apache-2.0

/// The reason why a notification no longer waits for its device.
enum RemovalReason {
    case acknowledged, collapsed, expired, dropped, unregistered
}

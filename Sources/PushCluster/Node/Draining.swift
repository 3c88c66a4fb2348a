// SPDX-License-Identifier: Apache-2.0

/// Whether a node sends its devices away, with the values of the column `nodes.draining`.
package enum Draining: Int64, Sendable {
    case no = 0
    /// An administrator wants it, and devices are left.
    case draining = 1
    /// No device is left.
    case drained = 2
}

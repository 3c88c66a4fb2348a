// SPDX-License-Identifier: Apache-2.0

/// The number of a node in its cluster, from 0 to 1023.
package struct NodeNumber: RawRepresentable, Hashable, Sendable {
    /// The number of different node numbers.
    package static let count = 1024

    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }
}

/// One start of a node.
///
/// A node that starts again is another instance, so messages and rows that name the earlier one no longer concern it.
package struct InstanceID: RawRepresentable, Hashable, Sendable {
    /// The number, a `NotificationID` that the node made when it started; 0 for no instance.
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// The number of the node.
    package var node: NodeNumber { NotificationIDs.node(of: rawValue) }
}

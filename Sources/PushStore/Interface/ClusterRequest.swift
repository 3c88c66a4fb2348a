// SPDX-License-Identifier: Apache-2.0

/// A request about the nodes of a cluster, which a store with one node refuses.
package enum ClusterRequest: Sendable {
    /// Describes the nodes and PostgreSQL; answered by `cluster`.
    case status
}

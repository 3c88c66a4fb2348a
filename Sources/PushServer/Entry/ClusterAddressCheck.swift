// SPDX-License-Identifier: Apache-2.0

internal import PushCluster
internal import PushNet

/// A check of the address at which the other nodes shall reach this one.
enum ClusterAddressCheck {
    /// Returns warnings about an address that probably does not work; resolves its name, which may block for seconds.
    ///
    /// - Parameters:
    ///   - address: The address for other nodes.
    ///   - ports: The ports that accept links.
    /// - Returns: The warnings; an address behind a proxy or NAT can work in spite of them.
    static func warnings(about address: LinkedNode.Address, ports: [UInt16]) -> [String] {
        var warnings: [String] = []
        let place = "[cluster] address"
        if !ports.contains(address.port), !ports.contains(0) {
            warnings.append(
                "\(place) has the port \(address.port), which is not in [server] listen. Correct it, unless a proxy or NAT "
                    + "forwards this port.")
        }
        do throws(NetError) {
            guard try Sockets.isLoopback(address.host) else { return warnings }
            warnings.append(
                "\(place) has the host \(address.host), which is a loopback address on this machine. Check that the other "
                    + "nodes resolve it to an address of this machine that they can reach.")
        } catch {
            warnings.append(
                "\(place) has the host \(address.host), which this machine cannot resolve. Correct it, or check the DNS."
            )
        }
        return warnings
    }
}

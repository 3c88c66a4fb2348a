// SPDX-License-Identifier: Apache-2.0

internal import PushNet
internal import PushServing

/// The listening sockets of a server's ports.
struct ListeningSockets {
    /// The sockets of each data loop.
    private(set) var byLoop: [[ListeningSocket]]
    /// The ports, with the numbers that the kernel chose.
    private(set) var ports: [NetworkPort]

    /// Continues with inherited sockets, and opens one for each loop at each other port, so that the kernel distributes
    /// the connections among the loops.
    ///
    /// Inherited sockets that belong to no configured port are closed first, also by the service manager, because they
    /// may occupy an address that is to be opened. All others are used, because connections may wait in each of them.
    ///
    /// - Parameters:
    ///   - ports: The configured ports.
    ///   - loopCount: The number of data loops.
    ///   - inherited: The inherited sockets.
    ///   - forget: Makes the service manager close its copies of sockets with these names.
    /// - Throws: The port that cannot be opened.
    init(
        _ ports: [NetworkPort], loopCount: Int, inherited: [PassedSocket], forget: (([String]) -> Void)?
    ) throws(NetError) {
        byLoop = Array(repeating: [], count: loopCount)
        self.ports = ports
        var rest = inherited
        let own = ports.map { port in
            let found = rest.filter {
                Sockets.listens($0.descriptor, at: port.address.host, port: port.address.port)
            }
            rest.removeAll { socket in found.contains { $0.descriptor == socket.descriptor } }
            return found.map(\.descriptor)
        }
        if !rest.isEmpty { forget?(Set(rest.map(\.name)).sorted()) }
        for socket in rest { Sockets.closeInherited(socket.descriptor) }
        for (place, descriptors) in own.enumerated() {
            if descriptors.isEmpty { try open(place) } else { try adopt(descriptors, place) }
        }
    }

    /// The sockets of all ports, to be passed to the next process.
    var passed: [PassedSocket] {
        byLoop.joined().compactMap { socket in
            guard case .network(let place) = socket.kind else { return nil }
            let address = ports[place].address
            // The name of a descriptor cannot contain a colon.
            let name = "\(address.host)-\(address.port)".replacing(":", with: "_")
            return PassedSocket(descriptor: socket.descriptor.rawValue, name: name)
        }
    }

    private mutating func open(_ place: Int) throws(NetError) {
        let address = ports[place].address
        // Sockets that share a port would also share it with another server, so check first that the port is free.
        if address.port != 0 { _ = try Sockets.listen(host: address.host, port: address.port, sharingPort: false) }
        for loop in byLoop.indices {
            let socket = try Sockets.listen(
                host: address.host, port: ports[place].address.port, sharingPort: byLoop.count > 1)
            if loop == 0 { ports[place].address.port = try Sockets.localPort(socket.rawValue) }
            byLoop[loop].append(ListeningSocket(socket, .network(port: place)))
        }
    }

    private mutating func adopt(_ descriptors: [Int32], _ place: Int) throws(NetError) {
        ports[place].address.port = try Sockets.localPort(descriptors[0])
        // With fewer sockets than loops, several loops accept from one.
        for loop in descriptors.count..<max(descriptors.count, byLoop.count) {
            let copy = try Sockets.duplicate(descriptors[loop % descriptors.count])
            byLoop[loop].append(ListeningSocket(copy, .network(port: place)))
        }
        for (number, descriptor) in descriptors.enumerated() {
            let socket = ListeningSocket(Sockets.adoptListening(descriptor), .network(port: place))
            byLoop[number % byLoop.count].append(socket)
        }
    }

    /// Opens the port for monitoring.
    ///
    /// - Parameter address: The configured address; nil for none.
    /// - Returns: The socket and the URL of the metrics.
    /// - Throws: `ServerError.system` if the address cannot be used.
    static func forMonitoring(
        _ address: ListenAddress?
    ) throws(ServerError) -> (socket: ListeningSocket, url: String)? {
        guard let address else { return nil }
        return try ServerError.wrapping { () throws(NetError) in
            let socket = try Sockets.listen(host: address.host, port: address.port, sharingPort: false)
            let port = try Sockets.localPort(socket.rawValue)
            return (ListeningSocket(socket, .metrics), ServerURL.metrics(host: address.host, port: port))
        }
    }
}

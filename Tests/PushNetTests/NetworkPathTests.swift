// SPDX-License-Identifier: Apache-2.0

import Glibc
@testable import PushNet
import Testing

@Suite struct NetworkPathTests {
    @Test(arguments: ["127.0.0.1", "::1"])
    func `an unaffected connection still uses its network path`(host: String) throws {
        let listener = try Sockets.listen(host: host, port: 0, sharingPort: false)
        let port = try Sockets.localPort(listener.rawValue)
        let client = try connect(toPort: port, family: host == "::1" ? AF_INET6 : AF_INET)
        #expect(NetworkPath(of: client.rawValue) == .same)
    }

    @Test func `a connection from an address that the kernel would not choose has lost its path`() throws {
        let listener = try Sockets.listen(host: "127.0.0.1", port: 0, sharingPort: false)
        let port = try Sockets.localPort(listener.rawValue)
        let client = try connect(toPort: port, family: AF_INET, fromHost: 5)
        #expect(NetworkPath(of: client.rawValue) == .other)
    }

    @Test func `a descriptor that is not a connection has no path`() throws {
        let listener = try Sockets.listen(host: "127.0.0.1", port: 0, sharingPort: false)
        #expect(NetworkPath(of: listener.rawValue) == .unknown)
        #expect(NetworkPath(of: STDIN_FILENO) == .unknown)
    }
}

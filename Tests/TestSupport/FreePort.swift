// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization

/// A port of the loopback device for a program that a test starts later.
package enum FreePort {
    /// The kernel gives ports from 32,768 to programs that ask for any port, so it gives none of these.
    private static let range = 10_000...32_000
    private static let given = Mutex<Set<Int>>([])

    /// Returns a port that is free now, and that this process has not returned before.
    package static func find() throws -> Int {
        for _ in 0..<100 {
            let port = Int.random(in: range)
            if given.withLock({ $0.insert(port).inserted }), try isFree(port) { return port }
        }
        throw POSIXError(.EADDRINUSE)
    }

    private static func isFree(_ port: Int) throws -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw POSIXError(.EMFILE) }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe bind(descriptor, generic, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport

/// Runs nghttpd, which serves HTTP/2 over TLS with ALPN.
///
/// It serves the files of its directory and echoes uploads.
final class NghttpServer {
    let port: Int
    private let process = Process()

    init(_ certificates: Certificates) throws {
        port = try FreePort.find()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "nghttpd", "--echo-upload", "-a", "127.0.0.1", "-d", certificates.directory.path, "\(port)",
            certificates.key, certificates.certificate,
        ]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        let deadline = ContinuousClock.now + .seconds(10) * Patience.factor
        while !Self.answers(port) {
            guard ContinuousClock.now < deadline, process.isRunning else { throw TestFailure.noServer }
            usleep(10_000)
        }
    }

    deinit { kill() }

    func kill() {
        guard process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    private static func answers(_ port: Int) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = loopback(port)
        return unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    private static func loopback(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }
}

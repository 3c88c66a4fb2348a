// SPDX-License-Identifier: Apache-2.0

import Glibc
@testable import PushDBus
import TestSupport
import Testing

struct ServiceManagerTests {
    @Test func `the service manager's socket receives the state`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let path = directory.path(of: "notify")
            let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
            let bound = unsafe withUnsafePointer(to: &address) {
                unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            #expect(bound == 0)
            unsafe setenv("NOTIFY_SOCKET", path, 1)
            ServiceManager.notify("READY=1\nSTATUS=connected")
            var buffer = [UInt8](repeating: 0, count: 100)
            let count = unsafe recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            #expect(count > 0 && String(decoding: buffer.prefix(count), as: UTF8.self) == "READY=1\nSTATUS=connected")
        }
    }

    @Test func `nothing is sent without a service manager`() async {
        await #expect(processExitsWith: .success) {
            unsafe unsetenv("NOTIFY_SOCKET")
            ServiceManager.notify("READY=1")
        }
    }
}

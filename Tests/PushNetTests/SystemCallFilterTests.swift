// SPDX-License-Identifier: Apache-2.0

import Glibc
@testable import PushNet
import TestSupport
import Testing

/// Installs filters in processes of their own, because they cannot be removed.
struct SystemCallFilterTests {
    @Test func `a process that only computes reaches no file, no network and no process`() async {
        await #expect(processExitsWith: .success) {
            let null = unsafe open("/dev/null", O_RDWR)
            try SystemCallFilter.computing.install()
            check(1, unsafe open("/etc/passwd", O_RDONLY))
            check(2, socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
            check(3, socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
            check(4, kill(getppid(), 0))
            check(5, unsafe unlink("/nonexistent"))
            check(6, fork())
            check(7, dup(null))
            // Its memory and its open descriptors are left.
            let bytes = [UInt8](repeating: 7, count: 1 << 24)
            _exit(unsafe write(null, bytes, bytes.count) == bytes.count ? 0 : 8)
        }
    }

    @Test func `a process that reads files opens none for writing and reaches no network`() async {
        await #expect(processExitsWith: .success) {
            try SystemCallFilter.readingFiles.install()
            var facts = stat()
            guard unsafe open("/etc/passwd", O_RDONLY) >= 0, unsafe stat("/etc/passwd", &facts) == 0 else { _exit(1) }
            for flags in [O_WRONLY, O_RDWR, O_RDONLY | O_CREAT, O_RDONLY | O_TRUNC] {
                check(2, unsafe open("/dev/null", flags))
            }
            check(3, socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
            check(4, kill(getppid(), 0))
            check(5, fork())
            check(6, unsafe rename("/nonexistent", "/nonexistent-too"))
            var thread = pthread_t()
            guard unsafe pthread_create(&thread, nil, { _ in nil }, nil) == 0, pthread_join(thread, nil) == 0 else {
                _exit(7)
            }
            _exit(0)
        }
    }

    @Test func `threads that already run are filtered too`() async {
        await #expect(processExitsWith: .success) {
            var ends: [Int32] = [0, 0]
            guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else { _exit(1) }
            let (near, far) = (ends[0], ends[1])
            let thread = Thread(name: "older") {
                var byte: UInt8 = 0
                _ = unsafe write(far, [1], 1)
                _ = unsafe read(far, &byte, 1)
                check(2, unsafe open("/etc/passwd", O_RDONLY))
                _exit(0)
            }
            var byte: UInt8 = 0
            _ = unsafe read(near, &byte, 1)
            try SystemCallFilter.computing.install()
            _ = unsafe write(near, [1], 1)
            thread.join()
        }
    }
}

/// Ends the process with a status, unless a call failed because it is forbidden.
private func check(_ status: Int32, _ result: Int32) {
    if result != -1 || errno != EPERM { _exit(status) }
}

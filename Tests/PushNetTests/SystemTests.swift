// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

// The function for system calls is internal, and each of its four outcomes needs a test.
@testable import PushNet

@Suite struct SystemTests {
    @Test func `a system call that was interrupted runs again`() throws {
        var callCount = 0
        let result = try syscall("test") { () -> Int32 in
            callCount += 1
            guard callCount < 3 else { return 7 }
            errno = EINTR
            return -1
        }
        #expect(result == 7)
        #expect(callCount == 3)
    }

    @Test func `this process's arguments match those of Swift`() {
        #expect(ProcessFacts.arguments == Array(CommandLine.arguments.dropFirst()))
    }

    @Test func `a system call that would block returns nil, and other failures are thrown`() throws {
        let blocked = try syscall("test") { () -> Int32 in
            errno = EAGAIN
            return -1
        }
        #expect(blocked == nil)
        #expect(throws: NetError.system(call: "test", code: ENOSPC, subject: "disk")) {
            try syscall("test", about: "disk") { () -> Int in
                errno = ENOSPC
                return -1
            }
        }
    }

    @Test func `a system call with a bad descriptor stops the process`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Sockets.localPort(1_000_000)
        }
        #expect(says(result, "getsockname got a bad descriptor"))
    }

    @Test func `a descriptor is closed with its owner`() throws {
        let number: Int32
        do {
            let pair = try SocketPair()
            number = dup(pair.near.rawValue)
            try #require(number >= 0)
        }
        var before = stat()
        try #require(unsafe fstat(number, &before) == 0)
        do { _ = FileDescriptor(adopting: number) }
        // Another test may have reused the number, so the inode shows whether it is the same file.
        var after = stat()
        let isOpen = unsafe fstat(number, &after) == 0
        #expect(!isOpen || after.st_ino != before.st_ino)
    }

    @Test func `a descriptor that other code closed stops the process`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let descriptor = FileDescriptor(adopting: dup(0))
            close(descriptor.rawValue)
        }
        #expect(says(result, "closed by code that does not own it"))
    }

    @Test func `signals are read from their queue and do not end the process`() async {
        await #expect(processExitsWith: .success) {
            let queue = try SignalQueue([SIGTERM, SIGHUP])
            guard try queue.next() == nil else { exit(1) }
            // kill(2) would not work: the test runner's own threads are older than the queue and do not block the
            // signals.
            raise(SIGTERM)
            raise(SIGHUP)
            try waitUntilReadable(queue.descriptor)
            var heard: [Int32] = []
            while let signal = try queue.next() { heard.append(signal) }
            exit(heard.sorted() == [SIGHUP, SIGTERM] ? 0 : 2)
        }
    }

    @Test func `a thread that starts after the queue blocks its signals`() async {
        await #expect(processExitsWith: .success) {
            let queue = try SignalQueue([SIGTERM])
            // An unblocked signal would end the process, so its survival shows that the thread blocked it.
            Thread(name: "target") { raise(SIGTERM) }.join()
            raise(SIGTERM)
            try waitUntilReadable(queue.descriptor)
            exit(try queue.next() == SIGTERM ? 0 : 1)
        }
    }

    @Test func `an invalid signal number is refused`() {
        #expect(throws: NetError.system(call: "sigaddset", code: EINVAL, subject: "signal 1000")) {
            _ = try SignalQueue([1_000])
        }
    }

    @Test func `errors say what happened and what to do`() {
        let inUse = NetError.system(call: "bind", code: EADDRINUSE, subject: "* port 443")
        #expect(inUse.description == "bind * port 443: Address already in use")
        #expect(inUse.advice == "Stop the process that uses * port 443, or choose another address.")
        #expect(NetError.system(call: "read", code: 9_999, subject: "").description == "read: errno 9999")
        let reserved = NetError.system(call: "bind", code: EACCES, subject: "* port 443")
        #expect(reserved.advice.hasPrefix("Choose port 1024 or higher, or allow lower ports with 'sysctl "))
        #expect(
            NetError.system(call: "bind", code: ENOENT, subject: "/nope/x.sock").advice
                == "Create the directory of /nope/x.sock, or choose another path.")
        #expect(NetError.badAddress("x").description == "bad address: x")
        #expect(NetError.badAddress("x").advice.contains("107 bytes"))
    }
}

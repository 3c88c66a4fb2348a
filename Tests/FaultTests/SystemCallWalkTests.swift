// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension Faults {
    /// Each system call of a start, of a notification that is accepted, and of one that is delivered, fails once.
    struct SystemCallWalkTests {
        /// What a failing kernel answers; not of `read` and `write`, which wake loops up: that cannot fail in the world,
        /// and a server in which it does stops itself on purpose.
        private static let errors = [
            "openat": "EMFILE", "pread64": "EIO", "pwrite64": "EIO", "fdatasync": "EIO",
            "fsync": "EIO", "ftruncate": "EIO", "fallocate": "ENOSPC", "unlink": "EACCES", "rename": "EACCES",
            "mkdir": "EACCES", "fcntl": "EIO", "fstat": "EIO", "newfstatat": "EIO", "socket": "EMFILE",
            "bind": "EADDRINUSE", "listen": "ENOBUFS", "accept4": "ENOMEM", "epoll_create1": "EMFILE",
            "epoll_ctl": "ENOMEM", "eventfd2": "EMFILE", "signalfd4": "EMFILE", "setsockopt": "ENOBUFS",
            "getsockname": "ENOBUFS", "getsockopt": "EINVAL", "sendto": "ENOBUFS", "recvfrom": "ENOMEM",
            "writev": "EIO", "statfs": "EIO", "getdents64": "EIO", "chmod": "EPERM", "geteuid": "EPERM",
        ]

        private let site: Site

        init() async throws { site = try await Site() }

        /// A start, a delivery of what waits, a notification that is accepted and delivered; never without an end.
        private func work(_ wrapper: [String], on copy: String) async throws -> [String] {
            let server = try site.start(wrapper, on: copy)
            var accepted: [String] = []
            if let url = try await server.urlIfStarted() {
                let stream = try site.openStream(url)
                if try await site.send("during", to: url) == 200 { accepted.append("during") }
                // Whatever failed may have cost a connection, but not the server's life without a word.
                if try await site.send("again", to: url) == 200 { accepted.append("again") }
                server.process.send(SIGTERM)
                try await server.process.waitForExit()
                withExtendedLifetime(stream) {}
            }
            // Also of a start that failed, when other threads were at work already.
            if case .signal = server.process.exit { Issue.record("\(server.process.transcript)") }
            if server.process.exit != .code(0) {
                #expect(server.process.errorOutput.contains("posthornd:"), "it says why: \(server.process.transcript)")
            }
            return accepted
        }

        @Test(.tags(.slow))
        func `whichever system call fails, nothing accepted is lost, and the server ends when it is told to`()
            async throws
        {
            let first = try site.start()
            #expect(try await site.send("before", to: try await first.url()) == 200)
            try await first.stop()
            let census = try await Injection.census(Self.errors.keys.sorted()) { wrapper in
                _ = try await work(wrapper, on: try site.copyData("census"))
            }
            #expect(census.count > 10, "\(census)")
            let walk = census.sorted { $0.key < $1.key }.flatMap { call, count in
                (1...count).map { Injection(call, "error=\(Self.errors[call] ?? "EIO")", when: $0) }
            }
            for (index, injection) in Faults.steps(walk, count: 20).enumerated() {
                let copy = try site.copyData("case-\(index)")
                do {
                    let accepted = try await work(try injection.wrapper(), on: copy)
                    let waiting = try await site.waiting(on: copy)
                    #expect(waiting.first == "before", "\(injection.testDescription): \(waiting)")
                    #expect(
                        accepted.allSatisfy(waiting.contains), "\(injection.testDescription): \(accepted), \(waiting)")
                } catch {
                    Issue.record(error, "\(injection.testDescription)")
                }
                try FileManager.default.removeItem(atPath: copy)
            }
        }
    }
}

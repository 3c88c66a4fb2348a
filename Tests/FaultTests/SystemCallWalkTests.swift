// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension Faults {
    /// Fails one system call in each round: during a start, during the acceptance of a notification, or during a
    /// delivery.
    ///
    /// An ordinary run tries 20 of them at random, and `make soak` tries all.
    struct SystemCallWalkTests {
        /// The error of each failing system call.
        ///
        /// `read` and `write`, which wake loops up, are left out. They cannot fail in practice, and a server in which
        /// they fail stops itself on purpose.
        private static let errors = [
            "openat": "EMFILE", "pread64": "EIO", "pwrite64": "EIO", "fdatasync": "EIO",
            "fsync": "EIO", "ftruncate": "EIO", "fallocate": "ENOSPC", "unlink": "EACCES", "rename": "EACCES",
            "mkdir": "EACCES", "fcntl": "EIO", "fstat": "EIO", "newfstatat": "EIO", "socket": "EMFILE",
            "bind": "EADDRINUSE", "listen": "ENOBUFS", "accept4": "ENOMEM", "epoll_create1": "EMFILE",
            "epoll_ctl": "ENOMEM", "eventfd2": "EMFILE", "signalfd4": "EMFILE", "setsockopt": "ENOBUFS",
            "getsockname": "ENOBUFS", "getsockopt": "EINVAL", "sendto": "ENOBUFS", "recvfrom": "ENOMEM",
            "writev": "EIO", "statfs": "EIO", "getdents64": "EIO", "chmod": "EPERM", "geteuid": "EPERM",
        ]

        private let site: ServerSite

        init() async throws { site = try await ServerSite() }

        /// Starts a server, delivers pending notifications, sends and delivers two more, and always ends the server.
        ///
        /// - Parameters:
        ///   - wrapper: The command that starts the server with failing calls.
        ///   - copy: The data directory.
        /// - Returns: The texts of the accepted notifications.
        /// - Throws: `DeadlinePassed` when a program does not end.
        private func work(_ wrapper: [String], on copy: String) async throws -> [String] {
            let server = try site.start(wrapper, on: copy)
            var accepted: [String] = []
            if let url = try await server.urlIfStarted() {
                let stream = try site.openStream(url)
                if try await site.send("during", to: url) == 200 { accepted.append("during") }
                // The failed call may have cost a connection, but it must not end the server silently.
                if try await site.send("again", to: url) == 200 { accepted.append("again") }
                server.process.send(SIGTERM)
                try await server.process.waitForExit()
                withExtendedLifetime(stream) {}
            }
            // This includes a failed start, when other threads were already running.
            if case .signal = server.process.exit { Issue.record("\(server.process.transcript)") }
            if server.process.exit != .code(0) {
                #expect(server.process.errorOutput.contains("posthornd:"), "it says why: \(server.process.transcript)")
            }
            return accepted
        }

        @Test(.tags(.slow))
        func `after a random failed system call nothing accepted is lost, and the server stops on request`()
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

// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

/// Makes a system call fail: strace returns an error in the kernel's place, or kills the process at the call.
struct Injection: Sendable, CustomTestStringConvertible {
    /// The names of the system calls, separated by commas.
    let calls: String
    /// The fault in strace's syntax, for example `error=EIO` or `signal=KILL`.
    let fault: String
    /// The number of the call in each thread, as strace counts, for example `3` or `3+`.
    let when: String

    init(_ calls: String, _ fault: String, when: String) {
        (self.calls, self.fault, self.when) = (calls, fault, when)
    }

    init(_ calls: String, _ fault: String, when: Int) { self.init(calls, fault, when: "\(when)") }

    var testDescription: String { "\(calls):\(fault):when=\(when)" }

    /// Returns the command that starts a program with this injection.
    func wrapper() throws -> [String] {
        try Self.strace(calls, log: "/dev/null") + ["-e", "inject=\(calls):\(fault):when=\(when)"]
    }

    /// Runs strace as a grandchild, so that the program itself is the test's child.
    private static func strace(_ calls: String, log: String) throws -> [String] {
        [
            try RepositoryPaths.tool("strace"), "-D", "-f", "-qq", "--seccomp-bpf", "-o", log, "-e", "trace=\(calls)",
        ]
    }

    /// Counts each system call while a server works, and returns the maximum of one thread.
    static func census(
        _ calls: [String], of work: (_ wrapper: [String]) async throws -> Void
    ) async throws -> [String: Int] {
        let files = try TemporaryDirectory()
        try await work(try strace(calls.joined(separator: ","), log: files.path(of: "trace")))
        var counts: [String: [Substring: Int]] = [:]
        for line in files.read("trace").matches(of: /(?m)^([0-9]+) +([a-z0-9_]+)\(/) {
            counts[String(line.2), default: [:]][line.1, default: 0] += 1
        }
        return counts.compactMapValues { $0.values.max() }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

/// A system call that fails at a moment: strace returns an error in the kernel's place, or kills at the call.
struct Injection: Sendable, CustomTestStringConvertible {
    /// The system calls, joined by commas.
    let calls: String
    /// For example `error=EIO` or `signal=KILL`.
    let fault: String
    /// Which call of each thread, for example `3` or `3+`, as strace counts.
    let when: String

    init(_ calls: String, _ fault: String, when: String) {
        (self.calls, self.fault, self.when) = (calls, fault, when)
    }

    init(_ calls: String, _ fault: String, when: Int) { self.init(calls, fault, when: "\(when)") }

    var testDescription: String { "\(calls):\(fault):when=\(when)" }

    /// What to start a program with.
    func wrapper() throws -> [String] {
        try Self.strace(calls, log: "/dev/null") + ["-e", "inject=\(calls):\(fault):when=\(when)"]
    }

    /// The tracer as a grandchild, so that the program itself is the test's child.
    private static func strace(_ calls: String, log: String) throws -> [String] {
        [
            try RepositoryPaths.tool("strace"), "-D", "-f", "-qq", "--seccomp-bpf", "-o", log, "-e", "trace=\(calls)",
        ]
    }

    /// How often each system call is made, at most by one thread, while a server does its work.
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

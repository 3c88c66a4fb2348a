// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushCore
import PushSQLite
@testable import PushStore
import TestSupport
import Testing

@Suite(.tags(.slow)) struct BrokenDiskTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path(of: "posthorn.sqlite")
        let store = try TestStore(path: path)
        _ = try store.registeredDevice()
        store.store.stop()
    }

    @Test(arguments: [
        ("fdatasync,fsync", "EIO", 1), ("fdatasync,fsync", "EIO", 2), ("fdatasync,fsync", "EIO", 7),
        ("pwrite64", "EIO", 1), ("pwrite64", "EIO", 5),
    ])
    func `after a failed write nothing is accepted, and a restart has all accepted notifications`(
        calls: String, error: String, call: Int
    ) async throws {
        let log = directory.path(of: "accepted")
        let injection = "\(calls):error=\(error):when=\(call)+"
        await #expect(processExitsWith: .exitCode(70)) {
            [path = path as String, log = log as String, calls = calls as String, injection = injection as String] in
            let store = try TestStore(path: path) { $0.pendingPerTopicCountMax = 1000 }
            let strace = try await traceMyself(calls, injection)
            let code = try sendUntilRefused(store, log)
            withExtendedLifetime(strace) {}
            // Exit without a checkpoint, as the real server does.
            _exit(code)
        }
        let accepted = readText(log).split(separator: "\n").map(String.init)
        let store = try TestStore(path: path) { $0.pendingPerTopicCountMax = 1000 }
        let waiting = try store.waiting(TestDevice(number: 1))
        #expect(Array(waiting.prefix(accepted.count)) == accepted)
        #expect(waiting.count <= accepted.count + 1, "at most the one in doubt")
        #expect(try store.accept(.to(token, "after")) == .accepted)
    }

    @Test func `after a write failed for lack of space, nothing is accepted or delivered until the reserve is back`()
        async throws
    {
        await #expect(processExitsWith: .exitCode(0)) { [path = path as String] in
            let store = try TestStore(path: path)
            let (stream, _) = try store.attach(TestDevice(number: 1))
            let strace = try await traceMyself("pwrite64", "pwrite64:error=ENOSPC:when=1..4")
            let first = try store.accept(.to(token, "first"))
            var delivered: [String] = []
            try await eventually("the store accepts again") {
                // With no request in the same batch, a store that accepts it delivers it before the commit.
                let answer = store.address()
                store.store.submit([.accept(.to(token, "next"), answer: answer)])
                let replies = try store.collectors[0].take("an answer") { $0.contains { $0.answers(answer) } }
                delivered += replies.texts(to: stream)
                return try replies.acceptance(at: answer) == .accepted
            }
            let codes = store.notices.all.map(\.code)
            withExtendedLifetime(strace) {}
            let isAsPromised =
                first == .refused(.serviceUnavailable, ended: nil) && store.fatal.all.isEmpty
                && codes.first == "store-disk-full" && codes.last == "store-space-returned" && delivered == ["next"]
            _exit(isAsPromised ? 0 : 1)
        }
    }
}

private let token = DeviceTokenContents(
    device: DeviceID(rawValue: 1), topic: TopicID(rawValue: 1), generation: 1)

/// Attaches strace to this process, which makes system calls fail from now on.
private func traceMyself(_ calls: String, _ injection: String) async throws -> RunningProcess {
    let strace = try RunningProcess(
        try RepositoryPaths.tool("strace"),
        ["-qq", "-f", "-o", "/dev/null", "-p", "\(getpid())", "-e", "trace=\(calls)", "-e", "inject=\(injection)"])
    let threads = "/proc/self/task"
    try await eventually("every thread is traced", evidence: { strace.transcript }) {
        try FileManager.default.contentsOfDirectory(atPath: threads).allSatisfy { thread in
            let status = readText("\(threads)/\(thread)/status")
            return status.isEmpty || !status.contains("TracerPid:\t0\n")
        }
    }
    return strace
}

/// Sends notifications one after the other and logs the accepted ones; returns 70 if all are refused after the first
/// failure.
private func sendUntilRefused(_ store: TestStore, _ log: String) throws -> Int32 {
    let diary = Diarist(log)
    var refusedCount = 0
    for number in 0..<40 {
        switch try store.accept(.to(token, "\(number)")) {
        case .accepted where refusedCount > 0: return 1
        case .accepted: try diary.write("", ["\(number)"])
        case .refused(.serviceUnavailable, nil): refusedCount += 1
        case .refused: return 2
        }
    }
    guard refusedCount > 0 else { return 3 }
    guard store.fatal.all.count == 1, case .inputOutput = store.fatal.all[0] else { return 4 }
    let (_, replies) = try store.attach(TestDevice(number: 1))
    for case .performed(.failure(.unavailable), _) in replies { return 70 }
    return 5
}

// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Delays each flush of some processes to the disk, with strace.
package final class SlowDisk: Sendable {
    private let tracer: RunningProcess

    /// Whether this user may trace processes that strace did not start.
    package static var isPossible: Bool {
        let scope = readText("/proc/sys/kernel/yama/ptrace_scope").trimmingCharacters(in: .whitespacesAndNewlines)
        return geteuid() == 0 || ["", "0"].contains(scope)
    }

    /// Delays the flushes of processes, and of those that they start.
    init(of processes: [Int32], milliseconds: Int) async throws {
        let calls = "fsync,fdatasync,sync_file_range"
        let arguments = [
            "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(calls)", "-e",
            "inject=\(calls):delay_enter=\(milliseconds * 1_000)",
        ]
        let tracer = try RunningProcess(
            try RepositoryPaths.tool("strace"), arguments + processes.flatMap { ["-p", "\($0)"] })
        self.tracer = tracer
        try await eventually("strace traces all processes", evidence: { tracer.transcript }) {
            // A process that has ended meanwhile has no file.
            processes.allSatisfy { !readText("/proc/\($0)/status").contains("TracerPid:\t0\n") }
        }
    }

    /// Ends the delay of flushes.
    package func end() async throws {
        tracer.send(SIGTERM)
        try await tracer.waitForExit()
    }
}

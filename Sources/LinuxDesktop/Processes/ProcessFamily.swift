// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushNet

/// A program and all its descendants in /proc, including those in other sessions.
///
/// A process that forked twice and started its own session has lost its parents, so it is not found.
struct ProcessFamily {
    private static let statusByteCountMax = 4096
    /// The maximum number of rounds; real programs are all stopped in fewer.
    private static let roundCountMax = 8

    /// The relevant fields of one /proc/PID/stat.
    private struct Row {
        var process, parent, session: pid_t
    }

    private var members: Set<pid_t>
    private var sessions: Set<pid_t>

    /// Kills a program and its family; the program leads a session and is not reaped yet.
    static func kill(_ leader: pid_t) {
        var family = ProcessFamily(members: [leader], sessions: [leader])
        // Stopped processes start no others, so once all members are stopped the family is complete.
        var stopped: Set<pid_t> = []
        for _ in 0..<roundCountMax where stopped != family.members {
            for member in family.members.subtracting(stopped) { _ = Glibc.kill(member, SIGSTOP) }
            stopped = family.members
            family.grow(by: rows())
        }
        _ = Glibc.kill(-leader, SIGKILL)
        for member in family.members { _ = Glibc.kill(member, SIGKILL) }
    }

    private mutating func grow(by rows: [Row]) {
        var count = 0
        while members.count != count {
            count = members.count
            for row in rows where members.contains(row.parent) || sessions.contains(row.session) {
                members.insert(row.process)
                sessions.insert(row.session)
            }
        }
    }

    private static func rows() -> [Row] {
        guard let folder = unsafe opendir("/proc") else { return [] }
        defer { unsafe closedir(folder) }
        var rows: [Row] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let process = pid_t(name), let row = row(of: process) else { continue }
            rows.append(row)
        }
        return rows
    }

    /// Parses `PID (NAME) STATE PPID PGRP SESSION …`; the name may contain any character, also parentheses.
    private static func row(of process: pid_t) -> Row? {
        guard let bytes = try? PrivateFile.read("/proc/\(process)/stat", byteCountMax: statusByteCountMax) else {
            return nil
        }
        guard let end = bytes.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let words = String(decoding: bytes[bytes.index(after: end)...], as: UTF8.self).split(separator: " ")
        guard words.count > 3, let parent = pid_t(words[1]), let session = pid_t(words[3]) else { return nil }
        return Row(process: process, parent: parent, session: session)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension Faults {
    /// Checks backups of a running server and their restoration.
    struct BackupTests {
        private let site: ServerSite
        private let backup: String

        init() async throws {
            site = try await ServerSite()
            backup = site.files.path(of: "backup")
        }

        /// Starts a server, and makes a backup that holds one notification.
        private func backedUp() async throws -> PushServer {
            let server = try site.start()
            #expect(try await site.send("before", to: try await server.url()) == 200)
            try await site.posthorn("backup", backup).succeeded()
            return server
        }

        @Test func `a backup is complete and checked, and only its owner has access`() async throws {
            let server = try await backedUp()
            try await RunningProcess.run(
                "/bin/sh", ["-c", "cd \(backup) && sha256sum --check --strict --quiet SHA256SUMS"]
            ).succeeded()
            let names = try FileManager.default.contentsOfDirectory(atPath: backup).sorted()
            #expect(
                names == ["SHA256SUMS", "authority.key", "authority.pem", "posthorn.sqlite", "team-id", "token.keys"])
            let modes = try (names.map { "\(backup)/\($0)" } + [backup]).map {
                try FileManager.default.attributesOfItem(atPath: $0)[.posixPermissions] as? Int
            }
            #expect(modes == [0o600, 0o600, 0o644, 0o600, 0o600, 0o600, 0o700])
            let unnamed = try await site.posthorn("backup").succeeded().output
            #expect(unnamed.hasPrefix("\(site.data)/backups/"))
            try await server.stop()
        }

        @Test func `an earlier backup is replaced only on request, and other files never`() async throws {
            let server = try await backedUp()
            let again = try await site.posthorn("backup", backup)
            #expect(again.exit == .code(1) && again.errorOutput.contains("--force"), "\(again)")
            try await site.posthorn("backup", backup, "--force").succeeded()
            let precious = try site.files.makeDirectory("precious")
            let refused = try await site.posthorn("backup", precious, "--force")
            #expect(refused.exit == .code(1) && refused.errorOutput.contains("not a backup"), "\(refused)")
            let slip = try await site.posthorn("backup", site.files.path(of: "slip/backup"))
            #expect(slip.exit == .code(1) && slip.errorOutput.contains("does not exist"), "\(slip)")
            #expect(!FileManager.default.fileExists(atPath: site.files.path(of: "slip")))
            let nowhere = try await site.posthorn("backup", "/proc/backup")
            #expect(nowhere.exit == .code(1) && nowhere.errorOutput.contains("/proc/backup"), "\(nowhere)")
            let left = try FileManager.default.contentsOfDirectory(atPath: site.files.path).sorted()
            #expect(!left.contains { $0.hasSuffix(".partial") || $0.hasSuffix(".replaced") }, "\(left)")
            try await server.stop()
        }

        @Test(arguments: ["", ".partial", ".replaced"])
        func `a directory that holds more than a backup is never replaced`(suffix: String) async throws {
            let server = try await backedUp()
            let other = "\(backup)\(suffix)"
            try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
            try Data("mine".utf8).write(to: URL(fileURLWithPath: "\(other)/debian.iso"))
            let sums = "\(other)/SHA256SUMS"
            if !FileManager.default.fileExists(atPath: sums) { try Data().write(to: URL(fileURLWithPath: sums)) }
            let refused = try await site.posthorn("backup", backup, "--force")
            #expect(refused.exit == .code(1) && refused.errorOutput.contains("\(other) is not a backup"), "\(refused)")
            #expect(FileManager.default.fileExists(atPath: "\(other)/debian.iso"))
            #expect(FileManager.default.fileExists(atPath: "\(backup)/posthorn.sqlite"))
            try await server.stop()
        }

        @Test func `the data directory is never replaced by a backup`() async throws {
            let server = try await backedUp()
            for name in try FileManager.default.contentsOfDirectory(atPath: backup) where name == "SHA256SUMS" {
                try FileManager.default.copyItem(atPath: "\(backup)/\(name)", toPath: "\(site.data)/\(name)")
            }
            let refused = try await site.posthorn("backup", site.data, "--force")
            #expect(refused.exit == .code(1) && refused.errorOutput.contains("is not a backup"), "\(refused)")
            #expect(try await site.send("after", to: try await server.url()) == 200)
            try await server.stop()
        }

        @Test func `a restored server has its earlier data, and repeats no number`() async throws {
            let server = try await backedUp()
            let url = try await server.url()
            #expect(try await site.send("after", to: url) == 200)
            let stream = try site.openStream(url)
            try await eventually("both are delivered") { stream.texts == ["before", "after"] }
            try await site.acknowledge(stream.ids, at: url)
            try await server.stop()

            let restored = try await site.posthornd("--restore", backup).succeeded()
            let aside = try #require(restored.output.firstMatch(of: /(\S+before-restore-\S+)\.\n/)).1
            #expect(FileManager.default.fileExists(atPath: "\(aside)/posthorn.sqlite"))
            #expect(try await site.posthornd("--check").exit == .code(0))
            let next = try site.start()
            let nextURL = try await next.url()
            let again = try site.openStream(nextURL)
            try await eventually("what waited then comes again, what came later does not") {
                again.texts == ["before"]
            }
            #expect(try await site.send("new", to: nextURL) == 200)
            try await eventually("new ones come") { again.texts == ["before", "new"] }
            let known = try #require(stream.ids.max())
            #expect(try #require(again.ids.last) > known + 1_000_000)
            try await next.stop()
        }

        @Test func `a backup that is damaged, incomplete or newer is refused, and nothing changes`() async throws {
            try await backedUp().stop()
            let before = try Data(contentsOf: URL(fileURLWithPath: "\(site.data)/posthorn.sqlite"))
            func refuse(
                _ word: String, exit: Int32 = 65, of source: String? = nil, _ change: (String) throws -> Void
            ) async throws {
                let copy = site.files.path(of: "changed")
                try FileManager.default.copyItem(atPath: source ?? backup, toPath: copy)
                defer { try? FileManager.default.removeItem(atPath: copy) }
                try change(copy)
                let result = try await site.posthornd("--restore", copy)
                #expect(result.exit == .code(exit) && result.errorOutput.contains(word), "\(result)")
                let check = try await site.posthornd("--check-backup", copy)
                #expect(check.exit == .code(65) && check.errorOutput.contains(word), "\(check)")
            }
            try await refuse("SHA256SUMS") { try FileManager.default.removeItem(atPath: "\($0)/SHA256SUMS") }
            for name in ["posthorn.sqlite", "token.keys", "team-id", "authority.key"] {
                try await refuse("\(name): The file is missing") { copy in
                    try FileManager.default.removeItem(atPath: "\(copy)/\(name)")
                }
                try await refuse("\(name): The file's SHA-256 differs from SHA256SUMS") { copy in
                    let file = URL(fileURLWithPath: "\(copy)/\(name)")
                    var bytes = try Data(contentsOf: file)
                    bytes[bytes.count / 2] ^= 1
                    try bytes.write(to: file)
                }
            }
            try await refuse("damaged") {
                try Data("0  ../x\n".utf8).write(to: URL(fileURLWithPath: "\($0)/SHA256SUMS"))
            }
            let later = site.files.path(of: "later")
            try FileManager.default.copyItem(atPath: backup, toPath: later)
            let change = "sqlite3 posthorn.sqlite 'PRAGMA user_version = 99'; sha256sum posthorn.sqlite t* > SHA256SUMS"
            try await RunningProcess.run("/bin/sh", ["-c", "cd \(later) && \(change)"]).succeeded()
            try await refuse("schema version 99", exit: 74, of: later) { _ in }
            #expect(try Data(contentsOf: URL(fileURLWithPath: "\(site.data)/posthorn.sqlite")) == before)
            #expect(!FileManager.default.fileExists(atPath: "\(site.data)/restoring"))
            #expect(try await site.waiting() == ["before"])
        }

        @Test func `a backup is checked in its place and not changed`() async throws {
            try await backedUp().stop()
            let before = try FileManager.default.contentsOfDirectory(atPath: backup).sorted()
            let check = try await RunningProcess.run(RepositoryPaths.program("posthornd"), ["--check-backup", backup])
            #expect(check.exit == .code(0) && check.output.contains("1 pending notifications"), "\(check)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: backup).sorted() == before)
        }

        @Test(.preloadsLibrary)
        func `two restores within a second keep the replaced data under different names`() async throws {
            try await backedUp().stop()
            func restore() async throws -> String {
                let result = try await RunningProcess.run(
                    RepositoryPaths.program("posthornd"), ["--data-directory", site.data, "--restore", backup],
                    environment: [
                        "LD_PRELOAD": "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
                        "FAKETIME": "2026-11-22 05:58:17", "FAKETIME_DONT_FAKE_MONOTONIC": "1", "TZ": "UTC",
                    ]
                ).succeeded()
                return String(try #require(result.output.firstMatch(of: /(\S+before-restore-\S+)\.\n/)).1)
            }
            func content(_ directory: String) throws -> [String: Data] {
                let names = try FileManager.default.contentsOfDirectory(atPath: directory)
                return try Dictionary(
                    uniqueKeysWithValues: names.map {
                        ($0, try Data(contentsOf: URL(fileURLWithPath: "\(directory)/\($0)")))
                    })
            }
            let first = try await restore()
            #expect(first == "\(site.data)/before-restore-20261122T055817Z")
            let kept = try content(first)
            let second = try await restore()
            #expect(second == "\(first)-2")
            #expect(try content(first) == kept && kept.count > 4)
            #expect(try content(second)["posthorn.sqlite"] != nil)
        }

        @Test func `a restore creates the data directory, but not its parents`() async throws {
            try await backedUp().stop()
            let slip = try await site.posthornd("--restore", backup, on: site.files.path(of: "slip/data"))
            #expect(slip.exit == .code(73) && slip.errorOutput.contains("does not exist"), "\(slip)")
            #expect(!FileManager.default.fileExists(atPath: site.files.path(of: "slip")))
            let new = site.files.path(of: "new")
            try await site.posthornd("--restore", backup, on: new + "/").succeeded()
            #expect(try await site.waiting(on: new) == ["before"])
        }

        @Test func `a restore over a running server is refused`() async throws {
            let server = try await backedUp()
            let result = try await site.posthornd("--restore", backup)
            #expect(result.exit == .code(75) && result.errorOutput.contains("Stop the other server"), "\(result)")
            #expect(try await site.send("after", to: try await server.url()) == 200)
            try await server.stop()
            #expect(try await site.waiting() == ["before", "after"])
        }

        @Test(.tags(.slow)) func `a restore that is killed can be repeated, and no server starts before that`()
            async throws
        {
            try await backedUp().stop()
            let walk = ["rename", "fsync", "unlink"].flatMap { call in
                (1...14).map { Injection(call, "signal=KILL", when: $0) }
            }
            for (index, injection) in Faults.steps(walk, count: 10).enumerated() {
                let copy = try site.copyData("case-\(index)")
                let command =
                    try injection.wrapper() + [
                        RepositoryPaths.program("posthornd"), "--data-directory", copy, "--restore", backup,
                    ]
                let restore = try RunningProcess(command[0], Array(command.dropFirst()))
                let exit = try await restore.waitForExit()
                if FileManager.default.fileExists(atPath: "\(copy)/restoring") {
                    let server = try site.start(on: copy)
                    #expect(try await server.process.waitForExit() == .code(73), "\(server.process.transcript)")
                    #expect(server.process.errorOutput.contains("--restore"), "\(server.process.transcript)")
                    try await site.posthornd("--restore", backup, on: copy).succeeded()
                }
                #expect(try await site.waiting(on: copy) == ["before"], "\(injection.testDescription), \(exit)")
                try FileManager.default.removeItem(atPath: copy)
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension Faults {
    /// Checks the move of a server's data to PostgreSQL and back.
    struct MigrationTests {
        private let site: ServerSite

        init() async throws { site = try await ServerSite() }

        private func data(_ name: String) -> String { site.files.path(of: name) }

        private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

        @Test(.tags(.slow), .needsPostgres) func `a server that was moved there and back delivers what waited`()
            async throws
        {
            let postgres = try await PostgresServer()
            let server = try site.start()
            let url = try await server.url()
            for text in ["a", "b"] { #expect(try await site.send(text, to: url) == 200) }
            try await server.stop()
            let there = try await site.posthorn(
                "migrate", "--to", postgres.address, "--data-directory", site.data
            ).succeeded()
            #expect(there.output.contains("2 of them pending notifications"), "\(there)")
            #expect(try await postgres.sql("SELECT count(*) FROM posthorn.pending") == "2")
            let again = try await site.posthornd("--migrate", postgres.address)
            #expect(again.exit == .code(73) && again.errorOutput.contains("is not empty"), "\(again)")

            let back = try await site.posthornd(
                "--migrate", "sqlite:\(data("back"))", "--from", postgres.address
            ).succeeded()
            #expect(back.output.contains("copy these files of the old server"), "\(back)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: data("back")) == ["posthorn.sqlite"])
            for name in try FileManager.default.contentsOfDirectory(atPath: site.data)
            where !name.hasPrefix("posthorn.sqlite") {
                try FileManager.default.copyItem(atPath: "\(site.data)/\(name)", toPath: "\(data("back"))/\(name)")
            }
            #expect(try await site.posthornd("--check", on: data("back")).exit == .code(0))
            #expect(try await site.waiting(on: data("back")) == ["a", "b"])
            let third = try await site.posthornd(
                "--migrate", "sqlite:\(data("back"))", "--from", postgres.address)
            #expect(third.exit == .code(73) && third.errorOutput.contains("already has a database"), "\(third)")
        }

        @Test(.needsPostgres) func `a database in use and a missing one are refused`() async throws {
            let postgres = try await PostgresServer()
            let server = try site.start()
            _ = try await server.url()
            let used = try await site.posthornd("--migrate", postgres.address)
            #expect(used.exit == .code(75) && used.errorOutput.contains("\(site.data)/posthorn.sqlite"), "\(used)")
            try await server.stop()
            let missing = try await site.posthornd("--migrate", postgres.address, on: data("none"))
            #expect(missing.exit == .code(73) && missing.errorOutput.contains("does not exist"), "\(missing)")
            #expect(!exists(data("none")))
        }

        @Test func `a server that cannot be reached is reported, and leaves no file`() async throws {
            let address = "postgresql://me:secret@/posthorn?host=\(site.files.path)"
            for arguments in [["--migrate", address], ["--migrate", "sqlite:\(data("back"))", "--from", address]] {
                let result = try await RunningProcess.run(
                    RepositoryPaths.program("posthornd"), ["--data-directory", site.data] + arguments)
                #expect(result.exit == .code(69) && result.errorOutput.contains(site.files.path), "\(result)")
                #expect(!result.errorOutput.contains("secret"))
            }
            #expect(!exists(data("back")))
        }

        @Test(.needsPostgres) func `a failed move to SQLite leaves no file`() async throws {
            let postgres = try await PostgresServer()
            try await site.posthornd("--migrate", postgres.address).succeeded()
            _ = try await postgres.sql("UPDATE posthorn.devices SET name = repeat('x', 2000000)")
            let result = try await site.posthornd(
                "--migrate", "sqlite:\(data("back"))", "--from", postgres.address)
            #expect(result.exit == .code(74), "\(result)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: data("back")) == [])
        }
    }
}

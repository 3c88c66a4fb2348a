// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension ServerEndToEnd {
    /// Checks the first start of a server by a new administrator.
    struct StartTests {
        private let server = RepositoryPaths.program("posthornd")

        @Test func `an invalid setting is reported with file, line and the valid form`() async throws {
            let files = try TemporaryDirectory()
            let path = try files.write("# posthornd\n[server]\nlisten = nowhere\n", to: "posthornd.ini")
            let result = try await RunningProcess.run(server, ["--config", path, "--check-config"])
            #expect(result.exit != .code(0))
            #expect(result.errorOutput.contains("\(path):3:"))
            #expect(result.errorOutput.contains("HOST:PORT"))
        }

        @Test(arguments: ["[server]\nlisen = *:2197\n", "[sever]\nlisten = *:2197\n", "[server]\nhello\n"])
        func `a misspelled line is reported, not ignored`(text: String) async throws {
            let files = try TemporaryDirectory()
            let path = try files.write(text, to: "posthornd.ini")
            let result = try await RunningProcess.run(server, ["--config", path, "--check-config"])
            #expect(result.exit != .code(0))
            #expect(result.errorOutput.contains("\(path):2:"))
        }

        @Test func `the sample configuration is valid, as it is and with every line enabled`() async throws {
            let files = try TemporaryDirectory()
            let sample = readText("\(RepositoryPaths.root)/deploy/posthornd.ini")
            // The example's certificates do not exist, and the durability is not available with the example's URL.
            let isUsable =
                /(?m)^#((?!certificate_file|private_key_file|client_ca_files|webhook_ca_file|durability)[a-z_]+ = )/
            let switchedOn = sample.replacing(isUsable) { "\($0.1)" }
            #expect(switchedOn != sample)
            for (name, text) in ["sample.ini": sample, "on.ini": switchedOn] {
                let path = try files.write(text, to: name)
                try await RunningProcess.run(server, ["--config", path, "--check-config"]).succeeded()
            }
        }

        @Test func `a first start in a read-only directory reports it with a remedy`() async throws {
            let files = try TemporaryDirectory()
            let parent = try files.makeDirectory("read-only", permissions: 0o500)
            for directory in [parent, "\(parent)/data"] {
                let result = try await runWithoutRootsPrivileges([
                    "--data-directory", directory, "--listen", "127.0.0.1:0",
                ])
                #expect(result.exit != .code(0))
                #expect(result.errorOutput.contains(directory), "\(result.errorOutput)")
                #expect(result.errorOutput.contains("write access"), "\(result.errorOutput)")
            }
        }

        @Test func `a first start where a file is in the way reports it`() async throws {
            let files = try TemporaryDirectory()
            try files.write("", to: "file")
            let directory = files.path(of: "file/data")
            let result = try await RunningProcess.run(
                server, ["--data-directory", directory, "--listen", "127.0.0.1:0"])
            #expect(result.exit != .code(0))
            #expect(result.errorOutput.contains(directory))
        }

        @Test(
            .enabled(if: hasMountNamespaces, "a mount namespace needs root or user namespaces"),
            arguments: ["posthornd", "posthorn", "posthorn-agent", "posthorn-panel"])
        func `a program has its arguments without /proc`(program: String) async throws {
            let result = try await RunningProcess.run(
                "/usr/bin/unshare",
                ["-rm", "sh", "-c", #"mount -t tmpfs none /proc && exec "$0" "$@""#, RepositoryPaths.program(program)]
                    + ["--version"])
            #expect(result.output.hasPrefix("\(program) "), "\(result.output) \(result.errorOutput)")
        }

        static let hasMountNamespaces =
            (try? Process.run(
                URL(fileURLWithPath: "/usr/bin/unshare"), arguments: ["-rm", "mount", "-t", "tmpfs", "none", "/proc"]
            ).waitForSuccess()) ?? false

        @Test func `an ephemeral server lists its apps, and both kinds of token`() async throws {
            let topics = ["org.example.Mail", "org.example.Chat"]
            let server = try await EphemeralServer(topics: topics)
            #expect(server.line.topics.map(\.topic) == topics)
            #expect(Set(server.line.topics.flatMap { [$0.token, $0.goneToken] }).count == 4)
            #expect(server.line.topics.allSatisfy { $0.token.wholeMatch(of: /[0-9a-f]{64}/) != nil })
            #expect(server.line.host == "127.0.0.1")
            for file in [server.line.caFile, server.line.keyFile] {
                #expect(FileManager.default.fileExists(atPath: file))
            }
        }

        @Test func `the temporary data of an ephemeral server is removed when it ends`() async throws {
            let server = try await EphemeralServer()
            server.process.send(SIGTERM)
            #expect(try await server.process.waitForExit() == .code(0))
            for file in [server.line.caFile, server.line.keyFile, server.line.adminSocket] {
                #expect(!FileManager.default.fileExists(atPath: file), "\(file)")
            }
        }

        @Test func `a second server on the same data directory names the database in use`() async throws {
            let first = try await InstalledServer()
            let result = try await RunningProcess.run(
                server,
                [
                    "--data-directory", first.files.path(of: "data"), "--listen", "127.0.0.1:0",
                    "--admin-socket", first.files.path(of: "second.sock"),
                ])
            #expect(result.exit != .code(0))
            #expect(result.errorOutput.contains("posthorn.sqlite"))
            _ = try await first.admin.status()
        }

        @Test func `a second server on the same port reports it, and leaves the first its admin socket`() async throws {
            let first = try await InstalledServer()
            let files = try TemporaryDirectory()
            let second = try await RunningProcess.run(
                server,
                [
                    "--data-directory", files.path(of: "data"), "--listen", "127.0.0.1:\(first.port)",
                    "--admin-socket", first.admin.path,
                ])
            #expect(second.exit == .code(71), "\(second.errorOutput)")
            #expect(second.errorOutput.contains("\(first.port)") && second.errorOutput.contains("Stop the process"))
            let third = try await RunningProcess.run(
                server,
                [
                    "--data-directory", files.path(of: "data"), "--listen", "127.0.0.1:0", "--admin-socket",
                    first.admin.path,
                ])
            #expect(third.exit == .code(71), "\(third.errorOutput)")
            _ = try await first.admin.status()
        }

        @Test func `a file that is not a socket is not replaced`() async throws {
            let files = try TemporaryDirectory()
            let precious = try files.write("precious", to: "file")
            let result = try await RunningProcess.run(
                server,
                ["--data-directory", files.path(of: "data"), "--listen", "127.0.0.1:0", "--admin-socket", precious])
            #expect(result.exit == .code(71), "\(result.errorOutput)")
            #expect(readText(precious) == "precious")
        }

        @Test func `the server's private files are readable only by the server`() async throws {
            let server = try await InstalledServer()
            let data = server.files.path(of: "data")
            func permissions(_ path: String) throws -> Int? {
                try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            }
            #expect(try permissions(data) == 0o700)
            for secret in ["token.keys", "authority.key", "server.key"] {
                #expect(try permissions("\(data)/\(secret)") == 0o600, "\(secret)")
            }
        }

        /// Runs the server without the capability to ignore permissions, which would let root bypass them.
        private func runWithoutRootsPrivileges(_ arguments: [String]) async throws -> ProgramResult {
            guard getuid() == 0 else { return try await RunningProcess.run(server, arguments) }
            let tool = try RepositoryPaths.tool("setpriv")
            return try await RunningProcess.run(
                tool, ["--bounding-set", "-dac_override,-dac_read_search", server] + arguments)
        }

        @Test(arguments: ["posthornd", "posthorn-agent", "posthorn-panel", "posthorn"])
        func `a program prints its help and its version`(name: String) async throws {
            let help = try await RunningProcess.run(RepositoryPaths.program(name), ["--help"]).succeeded()
            #expect(help.output.contains(name) && help.output.contains("--version"))
            let version = try await RunningProcess.run(RepositoryPaths.program(name), ["--version"]).succeeded()
            #expect(version.output.contains(/[0-9]+\.[0-9]+/))
        }

        @Test(.preloadsLibrary, arguments: ["posthornd", "posthorn-agent", "posthorn-panel", "posthorn"])
        func `a preloaded library that sets a variable does not hide the command line`(name: String) async throws {
            // libfaketime sets variables before main.
            let result = try await RunningProcess.run(
                RepositoryPaths.program(name), ["--verzion"],
                environment: [
                    "LD_PRELOAD": "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1", "FAKETIME": "+0",
                ])
            #expect(result.errorOutput.contains("unknown option --verzion"), "\(result)")
        }

        @Test(arguments: ["posthornd", "posthorn-agent", "posthorn-panel", "posthorn"])
        func `an unknown option is refused with a hint`(name: String) async throws {
            let result = try await RunningProcess.run(RepositoryPaths.program(name), ["--verzion"])
            #expect(result.exit != .code(0))
            #expect(result.errorOutput.contains("--version"))
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension AdminEndToEnd {
    /// Checks access to the admin API: the mode of its socket, and the user of the connecting process.
    struct AdminAccessTests {
        /// A directory that every user of the machine may search, as /run/posthorn is.
        private let open: TemporaryDirectory
        private let files: TemporaryDirectory
        private let admin: AdminSocket
        private let server: RunningProcess

        init() async throws {
            (open, files) = (try TemporaryDirectory(isOpen: true), try TemporaryDirectory())
            let admin = AdminSocket(path: open.path(of: "admin.sock"))
            let server = try RunningProcess(
                RepositoryPaths.program("posthornd"),
                [
                    "--data-directory", files.path(of: "data"), "--listen", "127.0.0.1:0", "--admin-socket", admin.path,
                ])
            try await eventually("posthornd answers", evidence: { server.transcript }) {
                guard server.exit == nil else { throw UnexpectedOutput(ended: server) }
                guard FileManager.default.fileExists(atPath: admin.path) else { return false }
                return (try? await admin.status()) != nil
            }
            (self.admin, self.server) = (admin, server)
        }

        @Test func `only the server's own user may connect to the admin socket`() throws {
            let attributes = try FileManager.default.attributesOfItem(atPath: admin.path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            #expect(attributes[.ownerAccountID] as? Int == Int(geteuid()))
        }

        @Test(.enabled(if: geteuid() == 0, "becoming another user needs root"))
        func `the process of another user is refused even if the socket's mode admits it`() async throws {
            let asNobody = [
                try RepositoryPaths.tool("setpriv"), "--reuid", "65534", "--regid", "65534", "--clear-groups",
            ]
            // curl exits with 7 when it cannot connect.
            #expect(try await ask(by: asNobody, "GET", "/v1/status").exit == .code(7))
            try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: admin.path)
            let requests = [
                ("GET", "/v1/status"), ("POST", "/v1/enrolment-codes"), ("GET", "/v1/apps"), ("GET", "/v1/devices"),
            ]
            for (method, path) in requests {
                let refused = try await ask(by: asNobody, method, path)
                #expect(refused.exit == .code(0) && refused.output.hasSuffix("\n403"), "\(method) \(path): \(refused)")
                #expect(!refused.output.contains("\"code\""), "\(refused)")
            }
            try await eventually("the log names the refused user", evidence: { server.transcript }) {
                server.transcript.contains("administrator_refused user=65534")
            }
            let answered = try await ask(by: ["/usr/bin/env"], "GET", "/v1/status")
            #expect(answered.output.hasSuffix("\n200"), "\(answered)")
        }

        private func ask(by wrapper: [String], _ method: String, _ path: String) async throws -> ProgramResult {
            let curl = [
                try RepositoryPaths.tool("curl"), "-sS", "--max-time", "20", "-w", "\n%{http_code}", "-X", method,
                "--unix-socket", admin.path, "http://posthorn\(path)",
            ]
            return try await RunningProcess.run(wrapper[0], wrapper.dropFirst() + curl)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension AdminEndToEnd {
    /// Checks a machine with `posthorn doctor`, and watches a server with `posthorn top`.
    struct DoctorTests {
        private struct Examination: Decodable {
            struct Part: Decodable {
                let name: String
                let findings: [Finding]
            }

            struct Finding: Decodable {
                let subject: String
                let state: String
                let text: String
                let remedy: String?
            }

            let parts: [Part]
            let errors: Int

            func finding(_ part: String, _ subject: String) throws -> Finding {
                let findings = try #require(parts.first { $0.name == part }?.findings)
                return try #require(findings.first { $0.subject == subject }, "\(findings)")
            }
        }

        private func posthorn(_ server: InstalledServer, _ arguments: String...) async throws -> ProgramResult {
            try await RunningProcess.run(
                RepositoryPaths.program("posthorn"), arguments,
                environment: ["POSTHORN_ADMIN_SOCKET": server.admin.path])
        }

        @Test func `doctor does not blame the firewall if the server's name has no address`() async throws {
            let server = try await InstalledServer(options: ["--names", "posthorn.invalid localhost"])
            let result = try await posthorn(server, "doctor", "--server", "--json")
            #expect(result.exit == .code(1))
            let found = try result.decoded(Examination.self)
            #expect(try found.finding("Server", "DNS").state == "error")
            #expect(try found.finding("Server", "port").state == "skipped")
            #expect(found.errors == 1)
        }

        @Test func `doctor checks a server, and names a wrong line of its configuration`() async throws {
            let files = try TemporaryDirectory()
            let path = try files.write("[devices]\nopen_enrolment = no\n", to: "posthornd.ini")
            let server = try await InstalledServer(options: ["--config", path])
            let healthy = try await posthorn(server, "doctor", "--server", "--json").succeeded()
                .decoded(Examination.self)
            #expect(healthy.errors == 0)
            for subject in ["server", "configuration", "certificate", "trust", "port", "connections", "memory"] {
                #expect(try healthy.finding("Server", subject).state == "ok", "\(healthy)")
            }
            #expect(try healthy.finding("Server", "DNS").state == "warning")
            #expect(try healthy.finding("Server", "disk").text.contains(#/^[1-9][0-9]* MiB are free/#))

            try files.write("[devices]\nopen_enrolment = yes\n", to: "posthornd.ini")
            let changed = try await posthorn(server, "doctor", "--server", "--json").succeeded()
                .decoded(Examination.self).finding("Server", "configuration")
            #expect(changed.state == "warning" && changed.text.contains("open_enrolment"))

            try files.write("[devices]\nopen_enrolment = maybe\n", to: "posthornd.ini")
            let wrong = try await posthorn(server, "doctor", "--server")
            #expect(wrong.exit == .code(1))
            #expect(wrong.output.contains("\(path):2") && wrong.output.contains("1 error,"), "\(wrong.output)")
        }

        @Test func `doctor checks an agent, beside a machine without a server`() async throws {
            let stack = try await TestStack()
            let healthy = try await stack.user.posthorn("doctor", "--json").decoded(Examination.self)
            #expect(healthy.errors == 0, "\(healthy)")
            #expect(try healthy.finding("Device", "enrolment").state == "ok")
            #expect(try healthy.finding("Device", "connection").state == "ok")

            try await stack.server.process.killNow()
            try await eventually("the agent has noticed") {
                let result = try await stack.user.run(["doctor", "--device"])
                return result.exit == .code(1) && result.output.contains("Not connected")
            }
        }

        @Test func `top prints the rates of an interval and the longest queues`() async throws {
            struct Measurement: Decodable {
                struct Queue: Decodable {
                    let device_id: String
                    let pending: Int
                    let connected: Bool
                }

                let accepted: Double
                let pending: Int
                let queues: [Queue]
            }
            let stack = try await TestStack()
            let idle = try await posthorn(stack.server, "top", "--once", "--interval", "1").succeeded()
            #expect(idle.output.contains("1 of 1 connected"), "\(idle.output)")
            #expect(idle.output.contains("No notification waits for a device."), "\(idle.output)")
            #expect(idle.output.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(idle.output)")

            try await stack.user.agent.killNow()
            for number in 0..<3 {
                #expect(try await stack.provider.send(stack.notification("\(number)")).status == 200)
            }
            let busy = try await posthorn(stack.server, "top", "--json", "--interval", "1").succeeded()
                .decoded(Measurement.self)
            #expect(busy.pending == 3)
            #expect(busy.queues.map(\.pending) == [3] && busy.queues.map(\.connected) == [false])
            #expect(busy.accepted < 3)
        }
    }
}

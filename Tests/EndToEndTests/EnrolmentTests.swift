// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension DeviceAPIEndToEnd {
    /// Checks enrolment by the device API: a server without open enrolment accepts one device for each code.
    struct EnrolmentTests {
        private func enrol(_ body: String, at server: InstalledServer, count: Int = 1) async throws -> [Int] {
            let requests = (0..<count).flatMap { _ in ["-o", "/dev/null", "\(server.url)/v1/devices"] }
            let result = try await RunningProcess.run(
                RepositoryPaths.tool("curl"),
                [
                    "-sS", "--http1.1", "--parallel", "--parallel-immediate", "--parallel-max", "\(count)",
                    "--max-time", "30", "--cacert", server.authorityFile, "--data-binary", body, "-w", "%{http_code}\n",
                ] + requests)
            return result.output.split(separator: "\n").compactMap { Int($0) }
        }

        private func deviceCount(of server: InstalledServer) async throws -> Int {
            try await server.admin.request("GET", "/v1/devices", as: Devices.self).devices.count
        }

        private struct Devices: Decodable {
            let devices: [Device]

            struct Device: Decodable {}
        }

        private static func body(code: String?, requestID: String? = nil) -> String {
            let code = code.map { #""code":"\#($0)","# } ?? ""
            let requestID = requestID.map { #""request_id":"\#($0)","# } ?? ""
            return "{\(code)\(requestID)\"name\":\"desk\",\"platform\":\"linux\"}"
        }

        @Test func `a server without open enrolment refuses a device without a code`() async throws {
            let server = try await InstalledServer()
            for body in [Self.body(code: nil), #"{"code":null,"name":"desk","platform":"linux"}"#] {
                #expect(try await enrol(body, at: server) == [403], "\(body)")
            }
            #expect(try await deviceCount(of: server) == 0)
            let code = try await server.enrolmentCode()
            #expect(try await enrol(Self.body(code: code), at: server) == [201], "a code opens it")
            #expect(try await deviceCount(of: server) == 1)
        }

        @Test func `a client that lost its enrolment's answer gets the same device on repeating it`() async throws {
            let server = try await InstalledServer()
            let code = try await server.enrolmentCode()
            let requestID = "6c1f9e9a-8c1d-4c61-9a53-5d0a6f1b2c3d"
            let first = try await enrolledDevice(code, requestID, at: server)
            // The first answer is dropped here, as by a client that loses its connection.
            let second = try await enrolledDevice(code, requestID, at: server)
            #expect(first.device_id == second.device_id)
            #expect(first.device_secret != second.device_secret)
            for answer in [first, second] {
                let parts = answer.device_secret.split(separator: ".", omittingEmptySubsequences: false)
                #expect(parts.map(\.utf8.count) == [16, 43] && parts[0] == answer.device_id, "the secret has the ID")
            }
            #expect(try await deviceCount(of: server) == 1)
            let other = Self.body(code: code, requestID: "00000000-8c1d-4c61-9a53-5d0a6f1b2c3d")
            #expect(try await enrol(other, at: server) == [403], "another request cannot use the code")
        }

        private struct Enrolled: Decodable {
            let device_id: String
            let device_secret: String
        }

        private func enrolledDevice(
            _ code: String, _ requestID: String, at server: InstalledServer
        ) async throws -> Enrolled {
            try await RunningProcess.run(
                RepositoryPaths.tool("curl"),
                [
                    "-sS", "--max-time", "30", "--cacert", server.authorityFile, "--data-binary",
                    Self.body(code: code, requestID: requestID), "\(server.url)/v1/devices",
                ]
            ).succeeded().decoded(Enrolled.self)
        }

        @Test func `a code that twenty clients use at once enrols one of them`() async throws {
            let server = try await InstalledServer(options: ["--loops", "2"])
            let code = try await server.enrolmentCode()
            let statuses = try await enrol(Self.body(code: code), at: server, count: 20)
            #expect(statuses.count == 20 && statuses.count { $0 == 201 } == 1, "\(statuses)")
            // A limit of rates or connections may refuse some of them earlier than the code does.
            #expect(statuses.allSatisfy { [201, 403, 429].contains($0) }, "\(statuses)")
            #expect(statuses.contains(403), "\(statuses)")
            #expect(try await deviceCount(of: server) == 1)
        }
    }
}

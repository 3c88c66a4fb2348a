// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension AdminEndToEnd {
    /// Checks the admin API of a real server, on the wire.
    struct AdminAPITests {
        private let server: InstalledServer

        init() async throws { server = try await InstalledServer() }

        private func expect(
            _ status: Int, _ error: String, _ method: String, _ target: String, _ body: String? = nil,
            mentioning mention: String = "", _ location: SourceLocation = #_sourceLocation
        ) async throws {
            let answer = try await server.admin.exchange(method, target, body)
            #expect(answer.status == status, "\(method) \(target) \(body ?? ""): \(answer)", sourceLocation: location)
            #expect(answer["error"] == error, "\(answer)", sourceLocation: location)
            #expect(
                answer["detail"]?.contains(mention) == true || mention.isEmpty, "\(answer)", sourceLocation: location)
        }

        @Test func `a method that a path does not support is answered with the supported ones`() async throws {
            let paths = [
                ("/v1/status", "GET"), ("/v1/apps", "GET, POST"), ("/v1/apps/a", "GET, PATCH, DELETE"),
                ("/v1/apps/a/channels", "GET, POST"), ("/v1/apps/a/channels/c", "GET, DELETE"),
                ("/v1/keys", "GET, POST"), ("/v1/keys/K", "DELETE"), ("/v1/devices", "GET"),
                ("/v1/devices/0123456789abcdef", "GET, PATCH, DELETE"), ("/v1/enrolment-codes", "GET, POST"),
                ("/v1/enrolment-codes/x", "DELETE"),
                ("/v1/quotas", "GET"), ("/v1/quotas/team/T", "GET, PATCH, DELETE"),
            ]
            for (path, allowed) in paths {
                for method in ["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS", "patch"] {
                    let answer = try await server.admin.exchange(
                        method, path, method == "GET" || method == "HEAD" ? nil : "{}")
                    let isAllowed = allowed.split(separator: ", ").contains { $0 == method }
                    #expect((answer.status == 405) == !isAllowed, "\(method) \(path): \(answer)")
                    if !isAllowed { #expect(answer.allowed == allowed, "\(method) \(path)") }
                }
            }
        }

        @Test func `an invalid path is distinguished from a missing object`() async throws {
            for path in ["/", "/v1", "/v2/apps", "/v1/", "/v1/nothing", "/v1/apps/a/b", "/v1/keys/K/x", "/v1/status/"] {
                try await expect(404, "NotFound", "GET", path)
            }
            for path in ["/v1/apps/a/channels/c/d", "/v1/devices/a/b", "/v1/enrolment-codes/x/y"] {
                try await expect(404, "NotFound", "GET", path)
            }
            try await expect(400, "BadPath", "GET", "/v1/apps/%zz")
            try await expect(400, "BadPath", "GET", "/v1/apps/%FF")
            try await expect(404, "UnknownTopic", "GET", "/v1/apps/a%2Fb")
            try await expect(404, "UnknownDevice", "GET", "/v1/devices/x")
            for path in ["/v1/apps?x=1", "/v1/status?environment=production", "/v1/apps/a?environment=development"] {
                try await expect(400, "BadParameter", "GET", path)
            }
        }

        @Test func `an app has the given checks and broadcasts, and by default warn and none`() async throws {
            let plain = try await server.admin.exchange("POST", "/v1/apps", #"{"topic":"a"}"#)
            #expect(plain.status == 201)
            #expect(plain["checks"] == "warn" && plain["broadcasts"] == "0" && plain["name"] == "a")
            let body = #"{"topic":"b","name":"B","checks":"strict","broadcasts":true}"#
            let strict = try await server.admin.exchange("POST", "/v1/apps", body)
            #expect(strict["checks"] == "strict" && strict["broadcasts"] == "1")
            let shown = try await server.admin.exchange("GET", "/v1/apps/%62")
            #expect(shown.status == 200 && shown.body == strict.body)
            let list = try await server.admin.exchange("GET", "/v1/apps").decoded(Apps.self).apps
            #expect(list.map(\.topic) == ["a", "b"] && list.map(\.checks) == ["warn", "strict"])
            #expect(list.map(\.broadcasts) == [false, true])
        }

        @Test func `a device gets the name that an administrator gives it`() async throws {
            let target = try await server.addApp("org.example.Mail", isKeyScoped: false)
            let path = "/v1/devices/\(try await PlainDevice(server, target).id)"
            let renamed = try await server.admin.exchange("PATCH", path, #"{"name":"kiosk 7"}"#)
            #expect(renamed.status == 200 && renamed["name"] == "kiosk 7")
            #expect(try await server.admin.exchange("GET", path)["name"] == "kiosk 7")
            try await expect(400, "BadName", "PATCH", path, #"{"name":""}"#)
            try await expect(400, "BadRequest", "PATCH", path, "{}", mentioning: "name is missing")
            try await expect(404, "UnknownDevice", "PATCH", "/v1/devices/0123456789abcdef", #"{"name":"x"}"#)
        }

        @Test func `a change of an app changes only the given members`() async throws {
            try await server.admin.perform("POST", "/v1/apps", body: #"{"topic":"a","name":"A","checks":"strict"}"#)
            let steps: [(String, [String])] = [
                (#"{"name":"B"}"#, ["B", "strict", "0"]), (#"{"checks":"off"}"#, ["B", "off", "0"]),
                (#"{"broadcasts":true,"name":null}"#, ["B", "off", "1"]),
                (#"{"checks":"warn","broadcasts":false,"name":"C"}"#, ["C", "warn", "0"]),
            ]
            for (change, expected) in steps {
                let answer = try await server.admin.exchange("PATCH", "/v1/apps/a", change)
                #expect(answer.status == 200, "\(answer)")
                #expect([answer["name"], answer["checks"], answer["broadcasts"]] == expected, "\(change)")
                #expect(try await server.admin.exchange("GET", "/v1/apps/a").body == answer.body)
            }
            try await server.process.killNow()
            try await server.start()
            #expect(try await server.admin.exchange("GET", "/v1/apps/a")["name"] == "C", "it is kept")
        }

        @Test func `an invalid change of an app is refused with a remedy`() async throws {
            try await server.admin.perform("POST", "/v1/apps", body: #"{"topic":"a","name":"A"}"#)
            let before = try await server.admin.exchange("GET", "/v1/apps/a").body
            let path = "/v1/apps/a"
            try await expect(400, "NoChange", "PATCH", path, "{}", mentioning: "name, checks, broadcasts")
            try await expect(400, "NoChange", "PATCH", path, #"{"name":null}"#)
            try await expect(400, "BadRequest", "PATCH", path, #"{"team_id":"T"}"#, mentioning: "\"team_id\"")
            try await expect(400, "BadRequest", "PATCH", path, #"{"topic":"b"}"#, mentioning: "\"topic\"")
            try await expect(400, "BadRequest", "PATCH", path, #"{"chekcs":"off"}"#, mentioning: "Did you mean checks?")
            try await expect(400, "BadRequest", "PATCH", path, #"{"checks":"loose"}"#, mentioning: "off, warn, strict")
            try await expect(400, "BadRequest", "PATCH", path, #"{"broadcasts":"on"}"#, mentioning: "true or false")
            try await expect(400, "BadName", "PATCH", path, #"{"name":""}"#)
            try await expect(400, "BadName", "PATCH", path, #"{"name":"\#(String(repeating: "x", count: 129))"}"#)
            try await expect(400, "BadJSON", "PATCH", path, "{", mentioning: "byte 1")
            try await expect(400, "BadJSON", "PATCH", path, "")
            try await expect(404, "UnknownTopic", "PATCH", "/v1/apps/b", #"{"name":"B"}"#)
            try await expect(400, "BadRequest", "PATCH", path, Self.body(byteCount: 65_536), mentioning: "\"x\"")
            try await expect(413, "TooLarge", "PATCH", path, Self.body(byteCount: 65_537), mentioning: "65536 bytes")
            #expect(try await server.admin.exchange("GET", path).body == before, "nothing was changed")
            let longest = String(repeating: "x", count: 128)
            #expect(try await server.admin.exchange("PATCH", path, #"{"name":"\#(longest)"}"#)["name"] == longest)
        }

        @Test func `a key belongs to the given environment, and by default to both`() async throws {
            let both = try await server.admin.exchange("POST", "/v1/keys", "{}")
            #expect(both.status == 201 && both["environment"] == nil)
            for environment in ["production", "development"] {
                let key = try await server.admin.exchange("POST", "/v1/keys", #"{"environment":"\#(environment)"}"#)
                #expect(key.status == 201 && key["environment"] == environment, "\(key)")
            }
            let keys = try await server.admin.exchange("GET", "/v1/keys").decoded(Keys.self).keys
            // Keys that were created within one second have no defined order.
            #expect(Set(keys.map { $0.environment ?? "both" }) == ["both", "production", "development"])
            #expect(keys.count == 3)
        }

        @Test func `a key with contradictory options is not created`() async throws {
            try await server.admin.perform("POST", "/v1/apps", body: #"{"topic":"a"}"#)
            try await server.admin.perform("POST", "/v1/apps", body: #"{"topic":"b","team_id":"OTHERTEAM1"}"#)
            let path = "/v1/keys"
            try await expect(400, "BadRequest", "POST", path, #"{"environment":"sandbox"}"#, mentioning: "development")
            try await expect(400, "BadRequest", "POST", path, #"{"topic":"a"}"#, mentioning: "Did you mean topics?")
            try await expect(400, "BadRequest", "POST", path, #"{"topics":[]}"#, mentioning: "at least one")
            try await expect(400, "BadTeamID", "POST", path, #"{"team_id":"short"}"#)
            try await expect(404, "UnknownTopic", "POST", path, #"{"topics":["a","c"]}"#)
            try await expect(
                400, "OtherTeam", "POST", path, #"{"topics":["a","b"]}"#, mentioning: "App b belongs to team OTHERTEAM1"
            )
            #expect(try await server.admin.exchange("GET", path).decoded(Keys.self).keys.isEmpty)
            let key = try await server.admin.exchange("POST", path, #"{"topics":["b"],"team_id":"OTHERTEAM1"}"#)
            #expect(key.status == 201)
        }

        /// Returns a body of this size with an unknown member.
        private static func body(byteCount: Int) -> String {
            #"{"x":""# + String(repeating: "y", count: byteCount - 8) + #""}"#
        }

        private struct Apps: Decodable {
            let apps: [App]

            struct App: Decodable {
                let topic: String
                let checks: String
                let broadcasts: Bool
            }
        }

        private struct Keys: Decodable {
            let keys: [Key]

            struct Key: Decodable { let environment: String? }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension DeviceEndToEnd {
    /// Makes mistakes of new users, and checks that the answer says what to do.
    struct NewcomerMistakeTests {
        /// A mistake, and the words that its answer must contain.
        struct Mistake: Sendable, CustomTestStringConvertible {
            let name: String
            let status: Int
            let words: [String]
            let change: @Sendable (ProviderRequest) -> ProviderRequest

            var testDescription: String { name }
        }

        static let mistakes = [
            Mistake(name: "a quote is missing", status: 400, words: ["byte", "JSON"]) {
                $0.sending(#"{"aps":{"alert":"Hello}}"#)
            },
            Mistake(name: "the badge is a text", status: 200, words: ["aps.badge", "whole number"]) {
                $0.sending(#"{"aps":{"alert":"Two mails have come.","badge":"2"}}"#)
            },
            Mistake(name: "the alert is a number", status: 200, words: ["aps.alert", "string"]) {
                $0.sending(#"{"aps":{"alert":7}}"#)
            },
            Mistake(name: "a key is misspelled", status: 200, words: ["alert", "write"]) {
                $0.sending(#"{"aps":{"allert":"Two mails have come."}}"#)
            },
            Mistake(name: "5,000 bytes", status: 413, words: ["5000", "4096", "alert"]) {
                $0.sending(payload(byteCount: 5000))
            },
            Mistake(name: "no body", status: 400, words: ["empty", "{}"]) { $0.sending(nil) },
            Mistake(
                name: "the topic is of nobody", status: 400, words: ["apns-topic", "org.example.Nobody", "posthorn"]
            ) {
                $0.with("apns-topic", "org.example.Nobody")
            },
            Mistake(name: "the voip suffix is missing", status: 400, words: ["apns-topic", ".voip"]) {
                $0.with("apns-push-type", "voip")
            },
            Mistake(name: "the push type does not exist", status: 400, words: ["apns-push-type", "background"]) {
                $0.with("apns-push-type", "silent")
            },
            Mistake(name: "the priority is a word", status: 400, words: ["apns-priority", "10"]) {
                $0.with("apns-priority", "high")
            },
            Mistake(name: "the expiration is a date", status: 400, words: ["apns-expiration", "seconds"]) {
                $0.with("apns-expiration", "2026-01-01")
            },
            Mistake(
                name: "the token is in brackets", status: 400, words: ["device token", "hexadecimal", "position 1"]
            ) {
                $0.at($0.path.replacingOccurrences(of: "device/", with: "device/<") + ">")
            },
            Mistake(
                name: "the token has escaped spaces", status: 400, words: ["device token", "spaces", "position 65"]
            ) {
                $0.at($0.path + "%20")
            },
            Mistake(name: "the token is cut off", status: 400, words: ["device token", "62", "64"]) {
                $0.at(String($0.path.dropLast(2)))
            },
            Mistake(name: "the token is another server's", status: 400, words: ["device token", "did not issue"]) {
                $0.at("/3/device/" + String(repeating: "ab", count: 32))
            },
            Mistake(name: "a header comes twice", status: 400, words: ["apns-topic", "repeated"]) {
                $0.adding("apns-topic", "org.example.Mail")
            },
            Mistake(name: "the authorization is the token alone", status: 403, words: ["bearer"]) {
                $0.with("authorization", String($0.field("authorization")?.dropFirst(7) ?? ""))
            },
            Mistake(name: "a space follows the topic", status: 400, words: ["apns-topic"]) {
                $0.with("apns-topic", ($0.field("apns-topic") ?? "") + " ")
            },
            Mistake(name: "a space precedes the topic", status: 400, words: ["apns-topic"]) {
                $0.with("apns-topic", " " + ($0.field("apns-topic") ?? ""))
            },
            Mistake(name: "a space follows the provider token", status: 403, words: ["space", "authorization"]) {
                $0.with("authorization", ($0.field("authorization") ?? "") + " ")
            },
            Mistake(name: "a space precedes the authorization", status: 403, words: ["bearer"]) {
                $0.with("authorization", " " + ($0.field("authorization") ?? ""))
            },
            Mistake(name: "a space follows the priority", status: 400, words: ["apns-priority"]) {
                $0.with("apns-priority", "10 ")
            },
            Mistake(name: "a tab stands behind the push type", status: 400, words: ["apns-push-type"]) {
                $0.with("apns-push-type", "alert\t")
            },
            Mistake(name: "a space follows the expiration", status: 400, words: ["apns-expiration"]) {
                $0.with("apns-expiration", "0 ")
            },
            Mistake(name: "a space follows the collapse ID", status: 400, words: ["apns-collapse-id", "space"]) {
                $0.with("apns-collapse-id", "score ")
            },
            Mistake(name: "the provider token is garbage", status: 403, words: ["JWT", "three parts"]) {
                $0.with("authorization", "bearer abc")
            },
        ]

        @Test(arguments: mistakes)
        func `the answer names the mistake and the remedy`(mistake: Mistake) async throws {
            let server = try await EphemeralServer()
            let client = try await HTTP2Client(server.target)
            let good = ProviderRequest(
                token: server.topic.token, topic: server.topic.topic,
                providerToken: try await client.providerToken())
            let response = try await client.send(mistake.change(good))
            #expect(response.status == mistake.status, "\(response)")
            let said = response.headers.filter { $0[0].hasPrefix("posthorn-") }.map { $0[1] }.joined(separator: " ")
            for word in mistake.words { #expect(said.contains(word), "\(said)") }
            #expect(said.utf8.allSatisfy { (0x20...0x7E).contains($0) })
        }

        @Test func `the answer to another team's key names that team`() async throws {
            let server = try await EphemeralServer(options: ["--full"])
            var target = server.target
            target.keyFile = try server.variable("APNS_TEAM2_KEY")
            target.keyID = try server.variable("APNS_TEAM2_KEY_ID")
            let client = try await HTTP2Client(target)
            let request = ProviderRequest(
                token: server.topic.token, topic: server.topic.topic,
                providerToken: try await client.providerToken())
            let wrongTeam = try await client.send(request)
            #expect(wrongTeam.data == [#"{"reason":"InvalidProviderToken"}"#])
            let team = try server.variable("APNS_TEAM2")
            #expect(wrongTeam.field("posthorn-detail")?.contains("Use team ID \(team)") == true)
            let token = try await client.providerToken(teamID: team)
            let wrongTopic = try await client.send(request.with("authorization", "bearer \(token)"))
            #expect(wrongTopic.data == [#"{"reason":"TopicDisallowed"}"#])
            #expect(wrongTopic.field("posthorn-detail")?.contains(team) == true)
        }

        @Test func `a stranger with a wrong signature does not learn the key's team`() async throws {
            let server = try await EphemeralServer()
            let client = try await HTTP2Client(server.target)
            let token = try await client.providerToken(teamID: "AAAAAAAAAA", foreignKey: true)
            let request = ProviderRequest(token: server.topic.token, topic: server.topic.topic, providerToken: token)
            let response = try await client.send(request)
            #expect(response.field("posthorn-detail")?.contains(server.line.teamID) == false)
        }

        @Test func `strict checks refuse an invalid payload, and no checks accept it without any warning`() async throws
        {
            let server = try await EphemeralServer()
            let client = try await HTTP2Client(server.target)
            let wrong = ProviderRequest(
                token: server.topic.token, topic: server.topic.topic,
                providerToken: try await client.providerToken()
            ).sending(#"{"aps":{"alert":"Two mails have come.","badge":"2"}}"#)
            try await set(checks: "strict", of: server)
            try await eventually("the payload is refused") {
                let response = try await client.send(wrong)
                return response.data == [#"{"reason":"PayloadEmpty"}"#]
                    && response.field("posthorn-detail")?.contains("aps.badge") == true
            }
            #expect(try await client.send(wrong.sending("{}").with("apns-push-type", "background")).status == 200)
            // One error follows more warnings than an answer can carry.
            let many = ["width", "height", "align", "color", "colour", "background", "html", "font", "vibrate"]
            let hidden = "{\(many.map { "\"\($0)\":1," }.joined())\"aps\":{\"alert\":5}}"
            #expect(try await client.send(wrong.sending(hidden)).data == [#"{"reason":"PayloadEmpty"}"#])
            let implied = wrong.sending("{}").with("apns-push-type", nil).with("apns-topic", "org.example.Mail.voip")
            #expect(try await client.send(implied).status == 200)
            try await set(checks: "off", of: server)
            try await eventually("nothing is said") {
                let response = try await client.send(wrong)
                return response.status == 200 && response.field("posthorn-warning") == nil
            }
            #expect(try await client.send(wrong.sending("{")).data == [#"{"reason":"PayloadEmpty"}"#])
        }

        @Test func `an app whose events all use alerts is advised at its registration`() async throws {
            let stack = try await TestStack()
            let manifest = try stack.user.files.write(
                #"{"event_types":[{"id":"MAIL","name":"Mail","parts":["alert"]}]}"#, to: "mail.json")
            let result = try await stack.user.posthorn("register", TestStack.app, "--manifest", manifest)
            #expect(result.output == stack.token + "\n")
            #expect(result.errorOutput.contains("L-P07") && result.errorOutput.contains("Missing: badge, sound."))
            let log = stack.user.agent.now.transcript
            #expect(log.contains("L-P07"), "\(log)")
        }

        private func set(checks: String, of server: EphemeralServer) async throws {
            try await RunningProcess.run(
                RepositoryPaths.program("posthorn"), ["app", "set", server.topic.topic, "--checks", checks],
                environment: ["POSTHORN_ADMIN_SOCKET": server.line.adminSocket]
            ).succeeded()
        }
    }
}

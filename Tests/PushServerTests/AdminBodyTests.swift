// SPDX-License-Identifier: Apache-2.0

import PushCore
import Testing

@testable import PushServer

@Suite struct AdminBodyTests {
    private static let body = AdminBody(members: [
        AdminBody.Member(name: "topic", kind: .text, isRequired: true), AdminBody.Member(name: "topics", kind: .texts),
        AdminBody.Member(name: "broadcasts", kind: .flag), AdminBody.environment,
        AdminBody.Member(name: "policy", kind: .number(0...1, meaning: "0 or 1")),
    ])

    private func problem(_ json: String) throws -> String? {
        Self.body.problem(in: try JSONValue(parsing: Array(json.utf8).span))
    }

    @Test(arguments: [
        #"{"topic":"a"}"#, #"{"topic":"","topics":["b"],"broadcasts":false,"environment":"production","policy":0}"#,
        #"{"topic":"a","topics":["b","c"],"broadcasts":true,"environment":"development","policy":1}"#,
        #"{"topic":"a","topics":null,"broadcasts":null,"environment":null,"policy":null}"#,
    ])
    func `a valid member is accepted, and null means absent`(json: String) throws {
        #expect(try problem(json) == nil)
    }

    @Test(arguments: [
        (#"{}"#, "topic is missing: it must be a string."),
        (#"{"topic":null}"#, "topic is missing: it must be a string."),
        (#"{"topic":1}"#, "topic must be a string."),
        (#"{"topic":"a","topics":"b"}"#, "topics must be a list of at least one string."),
        (#"{"topic":"a","topics":[]}"#, "topics must be a list of at least one string."),
        (#"{"topic":"a","topics":["b",1]}"#, "topics must be a list of at least one string."),
        (#"{"topic":"a","topics":[null]}"#, "topics must be a list of at least one string."),
        (#"{"topic":"a","broadcasts":1}"#, "broadcasts must be true or false."),
        (#"{"topic":"a","broadcasts":"on"}"#, "broadcasts must be true or false."),
        (#"{"topic":"a","environment":"Production"}"#, "environment must be one of: production, development."),
        (#"{"topic":"a","environment":0}"#, "environment must be one of: production, development."),
        (#"{"topic":"a","policy":-1}"#, "policy must be 0 or 1."),
        (#"{"topic":"a","policy":2}"#, "policy must be 0 or 1."),
        (#"{"topic":"a","policy":"1"}"#, "policy must be 0 or 1."),
        (#"{"topic":"a","policy":0.5}"#, "policy must be 0 or 1."),
        (#"{"topic":"a","policy":9223372036854775808}"#, "policy must be 0 or 1."),
        (#"{"topic":"a","topics":null,"topics":["b"]}"#, "Repeated member \"topics\". Send each member once."),
        (#"{"topic":"a","topic":"a"}"#, "Repeated member \"topic\". Send each member once."),
    ])
    func `an invalid member is reported by its name`(json: String, text: String) throws {
        #expect(try problem(json) == text)
    }

    @Test(arguments: [
        ("topik", "Unknown member \"topik\". Did you mean topic? "),
        ("broadcast", "Unknown member \"broadcast\". Did you mean broadcasts? "),
        ("zzz", "Unknown member \"zzz\". "), ("", "Unknown member \"\". "),
        (String(repeating: "x", count: 65), "Unknown member \"\(String(repeating: "x", count: 64))\". "),
    ])
    func `an unknown member is refused with a list of the known ones`(name: String, text: String) throws {
        let problem = try problem("{\"topic\":\"a\",\"\(name)\":null}")
        #expect(problem == text + "Allowed members: topic, topics, broadcasts, environment, policy.")
    }

    @Test func `both values of a duplicate member are checked`() throws {
        #expect(try problem(#"{"topic":1,"topic":"a"}"#) == "topic must be a string.")
    }
}

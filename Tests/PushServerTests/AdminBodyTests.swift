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
    func `what the members may be is taken, and null for what is left out`(json: String) throws {
        #expect(try problem(json) == nil)
    }

    @Test(arguments: [
        (#"{}"#, "topic is missing: it is a text."), (#"{"topic":null}"#, "topic is missing: it is a text."),
        (#"{"topic":1}"#, "topic is a text."),
        (#"{"topic":"a","topics":"b"}"#, "topics is a list of at least one text."),
        (#"{"topic":"a","topics":[]}"#, "topics is a list of at least one text."),
        (#"{"topic":"a","topics":["b",1]}"#, "topics is a list of at least one text."),
        (#"{"topic":"a","topics":[null]}"#, "topics is a list of at least one text."),
        (#"{"topic":"a","broadcasts":1}"#, "broadcasts is true or false."),
        (#"{"topic":"a","broadcasts":"on"}"#, "broadcasts is true or false."),
        (#"{"topic":"a","environment":"Production"}"#, "environment is one of: production, development."),
        (#"{"topic":"a","environment":0}"#, "environment is one of: production, development."),
        (#"{"topic":"a","policy":-1}"#, "policy is 0 or 1."), (#"{"topic":"a","policy":2}"#, "policy is 0 or 1."),
        (#"{"topic":"a","policy":"1"}"#, "policy is 0 or 1."), (#"{"topic":"a","policy":0.5}"#, "policy is 0 or 1."),
        (#"{"topic":"a","policy":9223372036854775808}"#, "policy is 0 or 1."),
    ])
    func `what a member may not be is told by its name`(json: String, text: String) throws {
        #expect(try problem(json) == text)
    }

    @Test(arguments: [
        ("topik", "There is no member \"topik\" here. Did you mean topic? "),
        ("broadcast", "There is no member \"broadcast\" here. Did you mean broadcasts? "),
        ("zzz", "There is no member \"zzz\" here. "), ("", "There is no member \"\" here. "),
        (String(repeating: "x", count: 65), "There is no member \"\(String(repeating: "x", count: 64))\" here. "),
    ])
    func `a member that is unknown is refused with those that are known`(name: String, text: String) throws {
        let problem = try problem("{\"topic\":\"a\",\"\(name)\":null}")
        #expect(problem == text + "It may have: topic, topics, broadcasts, environment, policy.")
    }

    @Test func `of a member that comes twice each is looked at`() throws {
        #expect(try problem(#"{"topic":1,"topic":"a"}"#) == "topic is a text.")
    }
}

// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PushServer

@Suite struct AdminTargetTests {
    private func target(_ path: String) throws -> AdminTarget { try AdminTarget(Array(path.utf8)[...]) }

    @Test(arguments: [
        ("/v1/apps", ["apps"]), ("/v1/apps/", ["apps", ""]), ("/v1/", [""]), ("/v1//", ["", ""]),
        ("/v1/apps/a%2Fb/channels/c%3D%3d", ["apps", "a/b", "channels", "c=="]), ("/v1/%C3%A4", ["ä"]),
        ("/v1/a+b", ["a+b"]), ("/v1/%00", ["\0"]), ("/v1/%25%32%35", ["%25"]), ("/v1/..", [".."]),
    ])
    func `a path is split at slashes and its escapes are decoded`(path: String, words: [String]) throws {
        let target = try target(path)
        #expect(target.words == words)
        #expect(target.parameters == [])
    }

    @Test(arguments: [
        ("/v1/a?", []), ("/v1/a?x", ["x", ""]), ("/v1/a?x=", ["x", ""]), ("/v1/a?x=y=z", ["x", "y=z"]),
        ("/v1/a?x=1&&y=%26", ["x", "1", "y", "&"]), ("/v1/a?x=?/b", ["x", "?/b"]), ("/v1/a?=", ["", ""]),
    ])
    func `parameters follow the first question mark`(path: String, texts: [String]) throws {
        let target = try target(path)
        #expect(target.words == ["a"])
        #expect(target.parameters.flatMap { [$0.name, $0.value] } == texts)
    }

    @Test(arguments: ["", "/", "/v1", "v1/apps", "/v2/apps", "/V1/apps", "/%761/apps", "//v1/apps", "?/v1/", "/v1?x"])
    func `a path without the prefix is outside the API`(path: String) {
        #expect(throws: AdminTarget.Problem.isElsewhere) { try target(path) }
    }

    @Test(arguments: ["/v1/%", "/v1/a%2", "/v1/%g0", "/v1/%FF", "/v1/%C3", "/v1/a?%", "/v1/a?x=%zz", "/v1/%-1"])
    func `escapes that are not UTF-8 are refused`(path: String) {
        #expect(throws: AdminTarget.Problem.isNoText) { try target(path) }
    }

    @Test func `bytes that are not UTF-8 are refused`() {
        #expect(throws: AdminTarget.Problem.isNoText) { try AdminTarget([0x2F, 0x76, 0x31, 0x2F, 0xFF][...]) }
    }

    /// Checks every text of up to five of these bytes, about 60,000 texts.
    @Test func `any path is refused or its parts can be encoded again`() throws {
        let alphabet = Array("%/?&=2Fa".utf8) + [0xFF]
        var texts: [[UInt8]] = [[]]
        for _ in 0..<5 {
            for text in texts {
                guard let target = try? AdminTarget((Array("/v1/".utf8) + text)[...]) else { continue }
                let escaped = target.words.map { $0.utf8.map { "%" + String(Int($0) + 256, radix: 16).dropFirst() } }
                let path = "/v1/" + escaped.map { $0.joined() }.joined(separator: "/")
                #expect(try AdminTarget(Array(path.utf8)[...]).words == target.words, "\(path)")
            }
            texts = texts.flatMap { text in alphabet.map { text + [$0] } }
        }
    }
}

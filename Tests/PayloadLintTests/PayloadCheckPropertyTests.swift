// SPDX-License-Identifier: Apache-2.0

@testable import PayloadLint
import PushCore
import TestSupport
import Testing

/// Checks that the linter answers for any bytes, and that its findings can be sent in a header.
struct PayloadCheckPropertyTests {
    private static let types: [PushType?] = [nil] + PushType.allCases

    @Test func `arbitrary bytes do not crash the linter, and findings are limited and printable`() {
        for seed in seeds {
            var generator = SeededGenerator(seed: seed)
            for _ in 0..<20 {
                expectSafe(mutated(&generator), seed: seed)
                expectSafe(generator.bytes(countMax: 64), seed: seed)
            }
        }
    }

    @Test func `texts with any scalars have printable findings, however they are escaped`() {
        for seed in seeds {
            var generator = SeededGenerator(seed: seed)
            let (title, body) = (generator.text(countMax: 40), generator.text(countMax: 200))
            var payload = bytes(#"{"aps":{"alert":{"title":"#)
            JSONWriter.append(title, to: &payload)
            payload += bytes(#","body":"#)
            JSONWriter.append(body, to: &payload)
            payload += bytes("}}}")
            expectSafe(payload, seed: seed)
            let escaped = bytes(#"{"aps":{"alert":{"title":"\#(jsonEscaped(title))","body":"\#(jsonEscaped(body))"}}}"#)
            let size = { (finding: PayloadFinding) in finding.check != .tooLarge }
            #expect(findings(payload).filter(size) == findings(escaped).filter(size), "seed \(seed)")
        }
    }

    private func expectSafe(_ payload: [UInt8], seed: UInt64) {
        #expect(PayloadLintFuzzCheck.findings(payload) == nil, "seed \(seed)")
        for type in Self.types {
            let isObject = (try? JSONValidator.validateObject(payload.span)) != nil
            let list = findings(payload, type, appName: "Mail")
            #expect(isObject || list.map(\.check) == [.malformed], "seed \(seed)")
        }
    }

    /// Returns a sample payload with some bytes changed, doubled or left out.
    private func mutated(_ generator: inout SeededGenerator) -> [UInt8] {
        let sample = CheckSample.all[Int.random(in: CheckSample.all.indices, using: &generator)]
        var payload = bytes(sample.firing)
        for _ in 0..<Int.random(in: 0...4, using: &generator) where !payload.isEmpty {
            let place = Int.random(in: payload.indices, using: &generator)
            switch UInt8.random(in: 0...3, using: &generator) {
            case 0: payload[place] = UInt8.random(in: 0...255, using: &generator)
            case 1: payload.remove(at: place)
            case 2: payload.insert(contentsOf: payload[place...].prefix(8), at: place)
            default: payload[place] = bytes(#"{}[]",:\"#).randomElement(using: &generator) ?? 0
            }
        }
        return payload
    }
}

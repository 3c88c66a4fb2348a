// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Replays the fuzzer's seed inputs for the headers of proxies.
struct ProxyHeaderFailCaseTests {
    private static let directory = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../FuzzTesting/FailCases/proxy-header").standardizedFileURL

    @Test func `no fail case violates an invariant, also when it is cut`() throws {
        let files = try FileManager.default.contentsOfDirectory(at: Self.directory, includingPropertiesForKeys: nil)
        #expect(!files.isEmpty)
        for file in files {
            let bytes = Array(try Data(contentsOf: file))
            for byteCount in 0...bytes.count {
                #expect(ProxyHeaderFuzzCheck.header(Array(bytes[..<byteCount])) == nil, "\(file.lastPathComponent)")
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Test vectors of other projects, which are not part of this repository.
///
/// `POSTHORN_TEST_VECTORS` names a directory with `wycheproof/` (C2SP/wycheproof: the files of `testvectors_v1`) and
/// `jsontestsuite/` (nst/JSONTestSuite: its folder `test_parsing`). The default is `Tests/Vectors`.
package enum TestVectors {
    private static let directory =
        ProcessInfo.processInfo.environment["POSTHORN_TEST_VECTORS"] ?? "\(RepositoryPaths.root)/Tests/Vectors"

    /// Returns the reason for a skipped suite.
    package static func absence(of project: String) -> String {
        "no test vectors in \(directory)/\(project): set POSTHORN_TEST_VECTORS to the directory that has them"
    }

    /// Returns whether the vectors of a project exist.
    package static func has(_ project: String) -> Bool {
        FileManager.default.fileExists(atPath: "\(directory)/\(project)")
    }

    /// Decodes a JSON file.
    ///
    /// - Parameters:
    ///   - path: The path relative to the directory of vectors.
    ///   - type: The type to decode.
    /// - Returns: The value.
    /// - Throws: Foundation's errors when the file is missing or has another format.
    package static func decode<Value: Decodable>(_ path: String, as type: Value.Type = Value.self) throws -> Value {
        let data = try Data(contentsOf: URL(fileURLWithPath: "\(directory)/\(path)"))
        return try JSONDecoder().decode(type, from: data)
    }

    /// Returns the files of a folder with their contents, sorted by name.
    ///
    /// - Parameter path: The path relative to the directory of vectors.
    /// - Returns: The names and bytes; empty when the folder does not exist.
    package static func files(in path: String) -> [(name: String, bytes: [UInt8])] {
        let folder = "\(directory)/\(path)"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.sorted().compactMap { name in
            FileManager.default.contents(atPath: "\(folder)/\(name)").map { (name, [UInt8]($0)) }
        }
    }
}

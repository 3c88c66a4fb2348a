// SPDX-License-Identifier: Apache-2.0

@testable import AgentPanel
import Foundation
import PushNet
import TestSupport
import Testing

/// Runs the decoders of posthorn-panel, and looks at what the kernel lets them do.
struct DecoderSandboxTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @Test(arguments: [PictureWorker.decodeOption, PictureWorker.encodeOption, IconReader.option])
    func `a decoder is filtered before it reads the content of a picture`(option: String) async throws {
        let process = try start(option)
        try await eventually("the filter is installed", evidence: { process.transcript }) {
            let status = try String(contentsOfFile: "/proc/\(process.identifier)/status", encoding: .utf8)
            return status.contains("\nSeccomp:\t2\n") && status.contains("\nNoNewPrivs:\t1\n")
        }
        #expect(process.exit == nil)
    }

    @Test func `the icon reader draws text, effects and images from files`() async throws {
        let icon = """
            <svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="64" height="64">
            <filter id="b"><feGaussianBlur stdDeviation="3"/><feDiffuseLighting><fePointLight x="9" y="9" z="9"/>
            </feDiffuseLighting></filter>
            <rect x="8" y="8" width="48" height="48" fill="red" filter="url(#b)"/>
            <text x="10" y="40" font-family="sans-serif" font-size="20">Aé漢</text></svg>
            """
        let path = try directory.write(icon, to: "icon.svg")
        let process = try start(IconReader.option)
        #expect(try await process.outputLine() == "ready")
        for _ in 0..<2 { try process.write(String(decoding: IconRequest(path: path, pixels: 48).bytes, as: UTF8.self)) }
        process.endInput()
        #expect(try await process.waitForExit() == .code(0))
        #expect(process.output.components(separatedBy: "picture 48 48\n").count == 3, "\(process.transcript)")
        #expect(process.errorOutput.isEmpty)
    }

    private func start(_ option: String) throws -> RunningProcess {
        try RunningProcess(
            RepositoryPaths.program("posthorn-panel"), ["--\(option)"], inheriting: false, hasInput: true)
    }
}

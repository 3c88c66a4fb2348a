// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import AgentStore
internal import Glibc
internal import LinuxDesktop
internal import PushCore
internal import PushNet

/// Makes PNG files that are safe to show out of untrusted pictures; the agent itself opens and decodes nothing.
///
/// ```
/// picture ──▶ posthorn-panel --decode-picture ──▶ size and pixels, checked ──▶ --encode-picture ──▶ PNG
/// ```
///
/// The first process decodes the picture and may be compromised by it. Only pixels are taken from it, whose number
/// the agent checks. Another process, which gets nothing else, encodes them. Both have an empty environment.
final class PictureConverter {
    /// A picture to convert.
    enum Picture: Sendable {
        /// The content of a file.
        case content([UInt8])
        /// The absolute path of a file. The first process opens it, because a file system may never answer.
        case file(String)
    }

    private let loop: EventLoop
    private let program: String

    /// Creates a converter.
    ///
    /// - Parameters:
    ///   - loop: The loop on whose thread this runs.
    ///   - program: The path of `posthorn-panel`.
    init(loop: EventLoop, program: String) {
        self.loop = loop
        self.program = program
    }

    /// Converts a picture.
    ///
    /// - Parameters:
    ///   - picture: The picture.
    ///   - slot: The slot, which is in use until both processes have ended.
    ///   - deadline: The time at which the second process must have ended.
    /// - Returns: A PNG file of at most `Limits.pictureSideMax` pixels in width and height.
    /// - Throws: The reason why there is no picture.
    func png(
        of picture: Picture, in slot: PictureSlot, by deadline: PictureDeadline
    ) async throws(PictureFailure) -> [UInt8] {
        let pixels =
            switch picture {
            case .content(let bytes): try await run("decode-picture", input: bytes, slot, deadline)
            case .file(let path): try await run("decode-picture-file", input: Array(path.utf8), slot, deadline)
            }
        guard Self.isPicture(pixels) else { throw PictureFailure("it cannot be decoded") }
        let png = try await run("encode-picture", input: pixels, slot, deadline)
        guard png.starts(with: Self.pngSignature) else { throw PictureFailure("it cannot be encoded") }
        return png
    }

    /// The path of the `posthorn-panel` that is installed beside this program.
    static var panel: String {
        guard let path = unsafe realpath("/proc/self/exe", nil) else { return "/posthorn-panel" }
        defer { unsafe free(path) }
        let own = unsafe String(cString: path)
        return own.prefix(upTo: own.lastIndex(of: "/") ?? own.startIndex) + "/posthorn-panel"
    }

    private static let pngSignature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// Returns whether the output of the first process is a width, a height and as many pixels of four bytes.
    static func isPicture(_ bytes: [UInt8]) -> Bool {
        guard let end = bytes.prefix(32).firstIndex(of: UInt8(ascii: "\n")) else { return false }
        let sides = String(decoding: bytes[..<end], as: UTF8.self).split(separator: " ").compactMap { Int($0) }
        guard sides.count == 2, sides.allSatisfy({ (1...Limits.pictureSideMax).contains($0) }) else { return false }
        return bytes.count == end + 1 + sides[0] * sides[1] * 4
    }

    private func run(
        _ option: String, input: [UInt8], _ slot: PictureSlot, _ deadline: PictureDeadline
    ) async throws(PictureFailure) -> [UInt8] {
        let rest = try deadline.rest()
        let command = LimitedProcess.Command(program, ["--\(option)"], environment: [:], input: input)
        let byteCountMax = Limits.pictureSideMax * Limits.pictureSideMax * 4 + 64 * 1024
        let result = await withCheckedContinuation { continuation in
            // The loop retains the process, and so its slot, until it has ended. One that waits for a file system may
            // end long after it was killed.
            _ = LimitedProcess(
                command, on: loop, timeLimit: rest, outputByteCountMax: byteCountMax, log: agentLog
            ) { result in
                withExtendedLifetime(slot) {}
                continuation.resume(returning: result)
            }
        }
        switch result {
        case .success(let output): return output
        case .failure(.notStarted(ENOENT)): throw PictureFailure("posthorn-panel, which decodes it, is not installed")
        case .failure(.exited(let status)): throw PictureFailure(PictureRefusal(rawValue: status) ?? .damaged)
        case .failure(.timedOut): throw deadline.failure
        case .failure(let failure): throw PictureFailure("its decoder \(failure.message)")
        }
    }
}

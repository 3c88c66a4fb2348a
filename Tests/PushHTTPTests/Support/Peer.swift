// SPDX-License-Identifier: Apache-2.0

import TestSupport

@testable import PushHTTP
import PushNet

/// A client at the other end of an `HTTP2Session` that sends and receives frames.
final class Peer {
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    let session: HTTP2Session
    let recorder: Recorder
    private var output: [UInt8] = []
    private var hpack = HPACK()

    /// Creates both ends of a connection.
    ///
    /// - Parameters:
    ///   - recorder: The delegate of the session.
    ///   - limits: The limits of the session.
    ///   - isGreeted: Whether both ends have exchanged the preface and SETTINGS, and acknowledged them.
    ///   - isStranger: Whether the peer has not authenticated: the owner has not called `advertiseStreams`.
    init(
        _ recorder: Recorder = Recorder(), limits: HTTPSessionLimits = .usual, isGreeted: Bool = true,
        isStranger: Bool = false
    ) {
        self.recorder = recorder
        session = HTTP2Session(limits: limits, delegate: recorder)
        if !isStranger { session.advertiseStreams(limits.advertisedStreamCount) }
        session.now = .past.advanced(bySeconds: 1)
        guard isGreeted else { return }
        _ = session.receive((Self.preface + Frame.settings().bytes + Frame.settingsAcknowledgement.bytes).span)
        _ = frames()
    }

    /// Advances the clock of the session.
    func wait(seconds: Int64) { session.now = session.now.advanced(bySeconds: seconds) }

    /// Advances the clock of the session.
    func wait(nanoseconds: Int64) { session.now = session.now.advanced(byNanoseconds: nanoseconds) }

    /// Sends bytes, and returns whether the session stays open.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool { session.receive(bytes.span) }

    @discardableResult
    func send(_ frames: Frame...) -> Bool { send(frames.flatMap(\.bytes)) }

    /// Collects all output as frames.
    func frames(limit: Int = 65_536) -> [Frame] {
        while session.hasOutput {
            var piece: [UInt8] = []
            session.collectOutput(into: &piece, limit: limit)
            output += piece
            if piece.isEmpty { break }
        }
        return Frame.take(from: &output)
    }

    /// Sends frames and collects the answer.
    func exchange(_ frames: Frame...) -> [Frame] {
        send(frames.flatMap(\.bytes))
        return self.frames()
    }

    /// Decodes the fields of a HEADERS frame.
    ///
    /// The test must call this once for each frame, in order.
    ///
    /// - Parameter frame: The frame.
    /// - Returns: The fields by name.
    func fields(of frame: Frame) -> [String: String] { hpack.read(frame.payload) ?? ["unreadable": ""] }

    /// Returns the error code of the GOAWAY among the frames.
    static func goAwayCode(_ frames: [Frame]) -> UInt32? {
        frames.first { $0.type == Frame.Kind.goAway }?.number(at: 4)
    }
}

/// The error codes of RFC 9113, section 7.
enum ErrorCode {
    static let none: UInt32 = 0
    static let protocolError: UInt32 = 1
    static let flowControlError: UInt32 = 3
    static let streamClosed: UInt32 = 5
    static let frameSizeError: UInt32 = 6
    static let refusedStream: UInt32 = 7
    static let cancel: UInt32 = 8
    static let compressionError: UInt32 = 9
    static let enhanceYourCalm: UInt32 = 11
}

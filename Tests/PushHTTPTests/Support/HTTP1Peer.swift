// SPDX-License-Identifier: Apache-2.0

@testable import PushHTTP

/// A client at the other end of an `HTTP1Session` that sends and receives text.
final class HTTP1Peer {
    let session: HTTP1Session
    let recorder: Recorder

    init(_ recorder: Recorder = Recorder(), limits: HTTPSessionLimits = .usual) {
        self.recorder = recorder
        session = HTTP1Session(limits: limits, delegate: recorder)
    }

    /// Sends text, and returns whether the session stays open.
    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool { session.receive(bytes.span) }

    /// Collects all output.
    func output(limit: Int = 65_536) -> String {
        var text = ""
        while session.hasOutput {
            var piece: [UInt8] = []
            session.collectOutput(into: &piece, limit: limit)
            text += String(decoding: piece, as: UTF8.self)
        }
        return text
    }

    /// Sends text and collects the answer.
    func exchange(_ text: String) -> String {
        send(text)
        return output()
    }
}

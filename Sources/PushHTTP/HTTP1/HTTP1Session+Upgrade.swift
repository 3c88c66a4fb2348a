// SPDX-License-Identifier: Apache-2.0

/// Whether the open request of a connection may be answered with another protocol.
package enum UpgradeReadiness: Sendable {
    /// The request is complete and has no body.
    case ready
    /// A body was announced or sent, or the request has not ended: what follows cannot be told from the next protocol.
    case hasBody
    /// HTTP/1.0 and HTTP/2 have no such answer, and a request that is over or answered gets none.
    case unavailable
}

extension HTTP1Session {
    /// Judges the open request by what the peer has sent so far; a later event may change it.
    ///
    /// A request is handed on before its end when its body is too long or announced as too long, so being handed on
    /// proves nothing.
    ///
    /// - SeeAlso: RFC 9110, section 7.8
    package var upgradeReadiness: UpgradeReadiness {
        guard isOpen, !current.isAnswered, !wasAbandoned, failure == nil, !parser.head.isVersion10 else {
            return .unavailable
        }
        // `waiting` means that the parser has read the end of the request and that no failure came behind it.
        guard inputState == .waiting, current.requestEnded, !current.bodyOverflowed,
            parser.head.framing == .length(0)
        else { return .hasBody }
        return .ready
    }

    /// Answers the open request with 101 and the fields that were added to it, and ends the session.
    ///
    /// - Returns: What is to go out, and what came behind the request and belongs to the next protocol; nil, and nothing
    ///   changed, unless `upgradeReadiness` is `ready`.
    package func switchProtocols() -> (output: [UInt8], input: [UInt8])? {
        guard upgradeReadiness == .ready else { return nil }
        current.answer.state = .whole
        appendStatusLine(101)
        appendAnswerFields()
        output.append("\r\n")
        var input: [UInt8] = []
        _ = waitingInput.take { bytes in
            input.append(bytes)
            return bytes.count
        }
        let head = output
        output = []
        close()
        return (head, input)
    }
}

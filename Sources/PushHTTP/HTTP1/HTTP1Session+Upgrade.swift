// SPDX-License-Identifier: Apache-2.0

extension HTTP1Session {
    /// The readiness of the open request, based on the input so far; later input may change it.
    ///
    /// A request whose body is too long, or announced as too long, is handed on before its end. So being handed on
    /// proves nothing.
    ///
    /// - SeeAlso: RFC 9110, section 7.8
    package var upgradeReadiness: UpgradeReadiness {
        guard isOpen, !current.isAnswered, !wasAbandoned, failure == nil, !parser.head.isVersion10 else {
            return .unavailable
        }
        // `waiting` means that the parser has reached the end of the request and found no failure after it.
        guard inputState == .waiting, current.requestEnded, !current.bodyOverflowed,
            parser.head.framing == .length(0)
        else { return .hasBody }
        return .ready
    }

    /// Answers the open request with 101 and the fields that were added to it, and ends the session.
    ///
    /// - Returns: The output to send, and the input after the request, which belongs to the next protocol. Nil, without
    ///   any change, unless `upgradeReadiness` is `ready`.
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

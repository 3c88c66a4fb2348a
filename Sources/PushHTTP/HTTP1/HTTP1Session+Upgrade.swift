// SPDX-License-Identifier: Apache-2.0

extension HTTP1Session {
    /// Whether the open request may be answered with another protocol: HTTP/1.0 has no such answer.
    ///
    /// - SeeAlso: RFC 9110, section 7.8
    package var allowsUpgrade: Bool { isOpen && !current.isAnswered && !parser.head.isVersion10 }

    /// Answers the open request with 101 and the fields that were added to it, and ends the session.
    ///
    /// - Returns: What is to go out, and what came behind the request and belongs to the next protocol.
    package func switchProtocols() -> (output: [UInt8], input: [UInt8]) {
        precondition(allowsUpgrade && current.requestEnded, "there is no request to answer with another protocol")
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

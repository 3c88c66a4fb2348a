// SPDX-License-Identifier: Apache-2.0

extension HTTP1Session {
    /// Appends the status line and the fields of the current exchange's answer.
    func appendAnswerHead(status: Int) {
        let isWhole = current.answer.state == .whole
        let mayHaveBody = status != 204 && status != 304
        bodyFraming = .plain
        appendStatusLine(status)
        appendAnswerFields()
        if mayHaveBody, isWhole {
            output.append("content-length: ")
            output.append(number: current.answer.body.count)
            output.append("\r\n")
        } else if mayHaveBody, parser.head.isVersion10 {
            closesAfterAnswer = true
        } else if mayHaveBody {
            output.append("transfer-encoding: chunked\r\n")
            bodyFraming = .chunked
        }
        if !mayHaveBody || current.method == .head { bodyFraming = .none }
        output.append(closesAfterAnswer ? "connection: close\r\n\r\n" : "\r\n")
    }

    /// Appends the whole answer to a request that never became an exchange.
    func appendErrorAnswer(status: Int) {
        appendStatusLine(status)
        output.append("content-length: 0\r\nconnection: close\r\n\r\n")
    }

    /// Moves as much of the answer's body to the output as the limit allows.
    func collectBody(into collected: inout [UInt8], limit: Int) {
        let space = bodyFraming == .none ? Int.max : limit - collected.count
        let byteCount = min(space, current.answer.body.count)
        guard byteCount > 0 else { return }
        let framing = bodyFraming
        if framing == .chunked {
            collected.append(hexadecimal: byteCount)
            collected.append("\r\n")
        }
        _ = current.answer.body.take(atMost: byteCount) { bytes in
            if framing != .none { collected.append(bytes) }
        }
        if framing == .chunked { collected.append("\r\n") }
    }

    func appendStatusLine(_ status: Int) {
        output.append("HTTP/1.1 ")
        output.append(number: status)
        output.append(" ")
        output.append(HTTP1StatusText.text(of: status))
        output.append("\r\n")
    }

    func appendAnswerFields() {
        for field in current.answer.fields.fields {
            output.append(field.name)
            output.append(": ")
            switch field.value {
            case .literal(let value): output.append(value)
            case .copied(let range), .repeated(let range): output.append(contentsOf: current.answer.fields.bytes[range])
            }
            output.append("\r\n")
        }
    }
}

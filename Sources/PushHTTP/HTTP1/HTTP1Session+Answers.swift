// SPDX-License-Identifier: Apache-2.0

extension HTTP1Session: ExchangeOwner {
    func submitAnswer(of exchange: HTTPExchange, status: Int) {
        if !current.requestEnded { closesAfterAnswer = true }
        appendAnswerHead(status: status)
    }

    /// Does nothing: the owner checks `hasOutput`.
    func streamGrew(_ exchange: HTTPExchange) {}

    /// Does nothing: the only exchange is counted on demand.
    func recount(_ exchange: HTTPExchange) {}

    func abandon(_ exchange: HTTPExchange) {
        wasAbandoned = true
        inputState = .over
    }

    func collectAnswer(into collected: inout [UInt8], limit: Int) {
        if wasAbandoned {
            end()
            return
        }
        collectBody(into: &collected, limit: limit)
        guard current.answer.body.isEmpty else { return }
        switch current.answer.state {
        case .none, .streaming: return
        case .whole: break
        case .streamEnded: if bodyFraming == .chunked { collected.append("0\r\n\r\n") }
        }
        end()
        startOver()
    }

    /// Selects the input state after an answer: the next request, the rest of this one, or the end.
    private func startOver() {
        switch inputState {
        case .reading: inputState = owesContinue ? .over : .draining
        case .waiting: inputState = closesAfterAnswer ? .over : .reading
        case .draining, .over: break
        }
    }

    func end() {
        guard isOpen else { return }
        current.detach()
        if current.isAnnounced { delegate?.exchangeEnded(current) }
        current.reset()
        wasAbandoned = false
    }
}

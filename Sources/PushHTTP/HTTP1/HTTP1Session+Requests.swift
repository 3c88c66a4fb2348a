// SPDX-License-Identifier: Apache-2.0

extension HTTP1Session {
    /// Parses requests until one must wait; returns the number of processed bytes.
    func read(_ bytes: Span<UInt8>) -> Int {
        var index = 0
        while inputState == .reading || inputState == .draining {
            switch parser.next(bytes, &index) {
            case .needsMore: return index
            case .headEnded: headEnded()
            case .body(let range): bodyArrived(bytes.extracting(range))
            case .requestEnded: requestEnded()
            case .failed(let failure): fail(failure)
            }
        }
        return inputState == .over ? bytes.count : index
    }

    func keep(_ bytes: Span<UInt8>) {
        guard inputState != .over, bytes.count > 0 else { return }
        guard waitingInput.count + bytes.count <= HTTPBounds.pipelinedByteCountMax,
            retainedByteCount + bytes.count <= retainedByteCountMax
        else {
            failure = "the peer sent too much behind an unanswered request"
            inputState = .over
            waitingInput = ByteQueue()
            return
        }
        waitingInput.append(bytes)
    }

    func readWaitingInput() {
        guard !waitingInput.isEmpty, inputState == .reading || inputState == .draining else { return }
        // Moved out and back, since the delegate may do anything while a request is read.
        var input = ByteQueue()
        swap(&input, &waitingInput)
        _ = input.take { read($0) }
        swap(&input, &waitingInput)
    }

    private func headEnded() {
        lastID = lastID == Int32.max ? 1 : lastID + 1
        current.attach(to: self, id: lastID)
        current.isAnnounced = true
        current.beganAt = now
        current.head.method = parser.head.method
        current.head.path = parser.head.path
        swap(&current.head.fields, &parser.head.fields)
        current.requestEnded = parser.head.framing == .length(0)
        closesAfterAnswer = closesAfterAnswer || !parser.head.keepsAlive
        owesContinue = parser.head.expectsContinue && !current.requestEnded
        delegate?.headArrived(current)
        if owesContinue, !current.isAnswered { answerExpectation() }
    }

    /// Invites the body with `100 Continue`, unless it is known to be too long.
    private func answerExpectation() {
        if case .length(let byteCount) = parser.head.framing, byteCount > current.bodyByteCountMax {
            current.requestBody.overflowed = true
            current.handOn(to: delegate)
            return
        }
        owesContinue = false
        output.append("HTTP/1.1 100 Continue\r\n\r\n")
    }

    private func bodyArrived(_ bytes: Span<UInt8>) {
        owesContinue = false
        if current.isAnswered || current.bodyOverflowed || inputState == .draining {
            drainedByteCount += bytes.count
            if drainedByteCount > HTTPBounds.drainedByteCountMax { inputState = .over }
            return
        }
        let overflows = current.bodyArrived(bytes)
        if !overflows, retainedByteCount > retainedByteCountMax {
            current.requestBody.overflow()
            current.handOn(to: delegate)
        }
        if overflows { current.handOn(to: delegate) }
    }

    private func requestEnded() {
        if inputState == .draining || closesUnread {
            inputState = .over
            return
        }
        inputState = .waiting
        current.requestEnded = true
        current.handOn(to: delegate)
    }

    /// Whether the answer began before the request ended.
    private var closesUnread: Bool { current.isAnswered && !current.requestEnded }

    /// Answers an unreadable request, unless its answer has begun or was sent.
    private func fail(_ problem: HTTP1Failure) {
        let wasAnswered = current.isAnswered || inputState == .draining
        inputState = .over
        guard failure == nil else { return }
        failure = problem.reason
        guard !wasAnswered else { return }
        end()
        appendErrorAnswer(status: problem.status)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import CCurl

/// Collects a response, and records why it was rejected.
final class AnswerCollector: AnswerSink {
    private let requiresHTTP2: Bool
    private let answerByteCountMax: Int
    private let ignoresBody: Bool
    private var droppedByteCount = 0
    private let onHead: ((HTTPResponse) -> Void)?
    private let onBody: ((Span<UInt8>) -> Void)?
    private var head = HeadCollector()
    private var body: [UInt8] = []
    /// The reason why this side ended the transfer.
    private(set) var refusal: CurlError?
    /// Whether the transfer was canceled, so that the closures must not be called any more.
    var isMuted = false

    init(
        for request: HTTPRequest, onHead: ((HTTPResponse) -> Void)? = nil, onBody: ((Span<UInt8>) -> Void)? = nil
    ) {
        requiresHTTP2 = request.requiresHTTP2
        answerByteCountMax = request.answerByteCountMax
        ignoresBody = request.ignoresBody
        self.onHead = onHead
        self.onBody = onBody
    }

    func receive(headLine: Span<UInt8>) -> Bool {
        guard !isMuted else { return false }
        switch head.receive(line: headLine) {
        case .more: return true
        case .malformed: return refuse("the head of the answer is malformed or too long")
        case .done:
            guard let response = head.response else { return refuse("the answer has no head") }
            guard response.isHTTP2 || !requiresHTTP2 else { return refuse("the server does not speak HTTP/2") }
            onHead?(response)
            return !isMuted
        }
    }

    func receive(bodyPiece: Span<UInt8>) -> Bool {
        guard !isMuted else { return false }
        if let onBody {
            onBody(bodyPiece)
            return !isMuted
        }
        guard !ignoresBody else {
            droppedByteCount += bodyPiece.count
            return droppedByteCount <= answerByteCountMax
        }
        guard body.count + bodyPiece.count <= answerByteCountMax else {
            return refuse("the answer is longer than \(answerByteCountMax) bytes")
        }
        unsafe bodyPiece.withUnsafeBufferPointer { unsafe body.append(contentsOf: $0) }
        return true
    }

    /// Returns the complete response of a transfer that ended with this code, or its error.
    func finish(_ handle: EasyHandle, _ code: CURLcode) -> Result<HTTPResponse, CurlError> {
        if let refusal { return .failure(refusal) }
        if let error = handle.error(for: code), !ignoresBody || head.response == nil { return .failure(error) }
        guard var response = head.response else { return .failure(.unusable("the answer has no head")) }
        response.body = body
        response.newConnectionCount = handle.newConnectionCount
        return .success(response)
    }

    private func refuse(_ message: String) -> Bool {
        refusal = .unusable(message)
        return false
    }
}

// SPDX-License-Identifier: Apache-2.0

@testable import PushHTTP
import PushNet

/// The invariants of a session for any bytes and any behavior of its owner.
///
/// FuzzTesting compiles this file too.
///
/// The first 16 bytes of an input are choices, which are reused cyclically. They select how the rest is split, what the
/// delegate does, and what the owner does between two pieces.
enum HTTPSessionFuzzCheck {
    private static let choiceCount = 16

    private static let limits = HTTPSessionLimits(
        concurrentStreamCountMax: 200, advertisedStreamCount: 20, headerListByteCountMax: 2000,
        advertisedHeaderListByteCountMax: 2000, headerFieldCountMax: 16)

    /// Drives an `HTTP1Session`.
    @Sendable static func http1(_ input: [UInt8]) -> String? {
        run(input) { HTTP1Session(limits: limits, delegate: $0) }
    }

    /// Drives an `HTTP2Session`.
    ///
    /// - Parameter input: The bytes. An odd first byte prepends the preface and SETTINGS to them.
    /// - Returns: The violation, or nil.
    @Sendable static func http2(_ input: [UInt8]) -> String? {
        let greeting =
            Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0]
        let isGreeted = (input.first ?? 0) & 1 == 1
        let bytes = Array(input.prefix(choiceCount)) + (isGreeted ? greeting : []) + input.dropFirst(choiceCount)
        return run(bytes) { HTTP2Session(limits: limits, delegate: $0) }
    }

    private static func run(_ input: [UInt8], _ make: (FuzzedOwner) -> any HTTPSession) -> String? {
        let owner = FuzzedOwner(choices: Array(input.prefix(choiceCount)))
        let session = make(owner)
        owner.drive(session, Array(input.dropFirst(choiceCount)))
        return owner.fault
    }
}

/// Owns a session as a server does, but takes its decisions from the fuzzer's choices.
private final class FuzzedOwner: HTTPSessionDelegate {
    private static let retainedByteCountMax = 64 * 1024
    /// The size limit of one answer.
    ///
    /// Above twice its budget a session accepts nothing more, but one answer may exceed it.
    private static let answerByteCountMax = 20_000

    /// The first violation that was found.
    private(set) var fault: String?
    private let choices: [UInt8]
    private var choiceIndex = 0
    /// The IDs of exchanges that were announced and have not ended.
    private var open: Set<Int32> = []
    private var session: (any HTTPSession)?
    private var inputByteCount = 0
    private var outputByteCount = 0
    /// The number of bytes given to answers, including a head for each.
    private var answerByteCount = 0

    init(choices: [UInt8]) { self.choices = choices.isEmpty ? [0] : choices }

    func drive(_ session: any HTTPSession, _ bytes: [UInt8]) {
        self.session = session
        session.retainedByteCountMax = Self.retainedByteCountMax
        session.now = .past.advanced(bySeconds: 1)
        var (start, goesOn) = (0, true)
        while start < bytes.count, goesOn, fault == nil {
            let size = [1, 9, 24, 100, 1000, 16_384][choose(6)]
            let piece = Array(bytes[start..<min(start + size, bytes.count)])
            start += piece.count
            inputByteCount += piece.count
            goesOn = session.receive(piece.span)
            if choose(2) == 0, let http = session as? HTTP1Session, let (output, input) = http.switchProtocols() {
                check(output.count > 12 && input.count <= inputByteCount, "a switch of protocols lost its answer")
                outputByteCount += output.count
                break
            }
            act(session)
            collect(session, limit: [0, 1, 500, 65_536][choose(4)])
            checkBounds(session)
        }
        collect(session, limit: 65_536)
        session.close()
        session.close()
        check(open.isEmpty, "\(open.count) exchanges did not end with their session")
        check(session.openExchangeCount == 0 && session.openExchanges.isEmpty, "a closed session has exchanges")
        check(session.isFinished && !session.hasOutput, "a closed session is not finished")
        check(!session.receive([0x41].span), "a closed session takes bytes")
        self.session = nil
    }

    // MARK: The owner between two pieces

    private func act(_ session: any HTTPSession) {
        session.now = session.now.advanced(byNanoseconds: [0, 1000, 1_000_000_000, 11_000_000_000][choose(4)])
        for exchange in session.openExchanges {
            switch choose(8) {
            case 0 where !exchange.isAnswered: answer(exchange)
            case 1 where exchange.isStreaming: send(exchange)
            case 2: exchange.endStream()
            case 3: exchange.forgetRequest()
            case 4: exchange.abandon()
            case 5: exchange.requestWasRead()
            default: break
            }
        }
        switch choose(12) {
        case 0, 1: session.tick()
        case 2: (session as? HTTP2Session)?.ping()
        case 3: session.advertiseStreams(200)
        case 4: session.announceShutdown(debugData: Array("bye".utf8))
        case 5: session.finishShutdown(debugData: [])
        default: break
        }
    }

    private func collect(_ session: any HTTPSession, limit: Int) {
        var turns = 0
        while session.hasOutput, turns < 100, limit > 0 {
            var output: [UInt8] = []
            session.collectOutput(into: &output, limit: limit)
            outputByteCount += output.count
            turns += 1
            if output.isEmpty { break }
        }
    }

    private func checkBounds(_ session: any HTTPSession) {
        let retained = session.retainedByteCount
        check(retained >= 0, "fewer than no bytes are retained")
        // One turn may continue the answers of all open exchanges, and each is within its own limit.
        check(
            retained <= 2 * Self.retainedByteCountMax + 200 * Self.answerByteCountMax, "\(retained) bytes are retained")
        check(
            outputByteCount <= 65_536 + 64 * inputByteCount + 2 * answerByteCount,
            "\(outputByteCount) bytes of output for \(inputByteCount) of input and \(answerByteCount) of answers")
    }

    // MARK: The delegate

    func headTooLarge(_ exchange: HTTPExchange) {
        answerByteCount += 1000
        exchange.respond(status: 431)
    }

    func headArrived(_ exchange: HTTPExchange) {
        check(open.insert(exchange.id).inserted, "exchange \(exchange.id) was announced twice")
        exchange.bodyByteCountMax = [0, 10, 1000, 30_000][choose(4)]
        if choose(6) == 0 { answer(exchange) }
        if choose(12) == 0 { exchange.abandon() }
    }

    func requestArrived(_ exchange: HTTPExchange) {
        check(open.contains(exchange.id), "exchange \(exchange.id) arrived without an announcement")
        check(!exchange.isAnswered, "exchange \(exchange.id) arrived after its answer")
        check(exchange.body.count <= exchange.bodyByteCountMax, "the body is longer than it may be")
        for field in exchange.fields.fields {
            check(!exchange.fields.text(field.name).isEmpty, "a field has no name")
            _ = exchange.fields.text(field.value)
        }
        _ = exchange.fields.text(exchange.path)
        if choose(3) == 0 { answer(exchange) }
    }

    func exchangeEnded(_ exchange: HTTPExchange) {
        check(open.remove(exchange.id) != nil, "exchange \(exchange.id) ended without an announcement")
        exchange.context = nil
    }

    private func answer(_ exchange: HTTPExchange) {
        answerByteCount += 1000
        exchange.addField("content-type", "text/plain")
        let echoed = exchange.fields.bytes
        exchange.addField("x-echo", echoed.span.extracting(0..<min(echoed.count, 50)))
        switch choose(5) {
        case 0: exchange.respond(status: 204)
        case 1: exchange.respond(status: 200, body: body(10))
        case 2: exchange.respond(status: 413, body: body(Self.answerByteCountMax))
        default:
            exchange.beginStream(status: 200)
            send(exchange)
        }
    }

    private func send(_ exchange: HTTPExchange) {
        guard exchange.unsentByteCount < Self.answerByteCountMax else { return }
        exchange.send(body([1, 100, 5000][choose(3)]).span)
    }

    private func body(_ byteCount: Int) -> [UInt8] {
        answerByteCount += byteCount + 100
        return [UInt8](repeating: 0x62, count: byteCount)
    }

    // MARK: Choices

    private func choose(_ count: Int) -> Int {
        let byte = choices[choiceIndex % choices.count]
        // The position counts too. Otherwise a short list of choices would repeat the same action.
        let value = (Int(byte) + choiceIndex / choices.count * 7) % count
        choiceIndex += 1
        return value
    }

    private func check(_ isTrue: Bool, _ text: @autoclosure () -> String) {
        if !isTrue, fault == nil { fault = text() }
    }
}

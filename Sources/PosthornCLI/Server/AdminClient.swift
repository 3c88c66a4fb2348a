// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import PushAPI
internal import PushCore
internal import PushCurl

/// A client of the admin API over the server's UNIX socket.
final class AdminClient {
    private let sockets: [String]
    private let client = HTTPClient()
    /// The timeout of a request for the server's status, which a working server answers immediately.
    private let statusTimeout: Duration

    /// Takes the socket paths in the order in which they are tried.
    init(sockets: [String], statusTimeout: Duration = Limits.statusAnswerTimeout) {
        self.sockets = sockets
        self.statusTimeout = statusTimeout
    }

    /// Sends a request and decodes the answer.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - type: The type of the answer.
    /// - Returns: The answer.
    /// - Throws: An error when no server answers, the server refuses, or the answer is invalid.
    func send<Answer: Decodable>(
        _ request: AdminRequest, for type: Answer.Type
    ) throws(CommandError) -> Answer {
        let answer = try exchange(request)
        do throws(CommandError) { return try AdminAnswer.decode(type, from: answer) } catch {
            throw error.naming(request)
        }
    }

    /// Sends a request whose answer has no body.
    ///
    /// - Parameter request: The request.
    /// - Throws: An error when no server answers or the server refuses.
    func send(_ request: AdminRequest) throws(CommandError) {
        let answer = try exchange(request)
        do throws(CommandError) { try AdminAnswer.check(answer) } catch { throw error.naming(request) }
    }

    private func exchange(_ request: AdminRequest) throws(CommandError) -> AdminAnswer {
        var attempts: [SocketAttempt] = []
        for path in sockets {
            do throws(CurlError) {
                let response = try client.send(httpRequest(request, socket: path))
                return AdminAnswer(status: response.status, body: response.body)
            } catch {
                // The next path is tried only when the connection failed. After that the server may have executed the
                // request.
                guard error.kind != .timeout else { throw .adminSilent(path: path) }
                guard error.kind == .connect else { throw .adminInterrupted(path: path, text: error.message) }
                attempts.append(SocketAttempt(path: path, finding: AdminSocket.finding(at: path)))
            }
        }
        throw .adminUnreachable(attempts)
    }

    private func httpRequest(_ request: AdminRequest, socket: String) -> HTTPRequest {
        var message = HTTPRequest(method: request.method, url: "http://localhost\(request.path)")
        message.unixSocket = socket
        message.body = request.body
        if request.segments == ["status"] { message.timeout = statusTimeout }
        if !request.body.isEmpty { message.fields = [("content-type", "application/json")] }
        return message
    }
}

package struct AdminAnswer: Sendable {
    package let status: Int
    /// The JSON body; empty for a response without a body.
    package let body: [UInt8]

    package init(status: Int, body: [UInt8]) {
        self.status = status
        self.body = body
    }

    /// Throws an error if the status is not a success.
    ///
    /// - Parameter answer: The server's answer.
    /// - Throws: `adminRefused`, with the server's error if the body holds one.
    package static func check(_ answer: AdminAnswer) throws(CommandError) {
        guard !(200...299).contains(answer.status) else { return }
        let failure = try? JSONDecoder().decode(DeviceAPI.Failure.self, from: Data(answer.body))
        let withoutError = DeviceAPI.Failure(
            error: "NoErrorBody",
            detail: "The response contains no error. See the server's log: journalctl -u posthornd")
        throw .adminRefused(status: answer.status, failure ?? withoutError)
    }

    /// Decodes the body of a successful answer.
    ///
    /// - Parameters:
    ///   - type: The type of the body.
    ///   - answer: The server's answer.
    /// - Returns: The decoded value.
    /// - Throws: The refusal, or `badAnswer` when the body is invalid.
    package static func decode<Value: Decodable>(
        _ type: Value.Type, from answer: AdminAnswer
    ) throws(CommandError) -> Value {
        try check(answer)
        do {
            return try JSONDecoder().decode(type, from: Data(answer.body))
        } catch {
            throw .badAnswer(of: "the server", detail: "expected \(type) (status \(answer.status))")
        }
    }
}

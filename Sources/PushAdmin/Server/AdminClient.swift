// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import PushCore
internal import PushCurl

/// Speaks the admin API over the server's UNIX socket.
package final class AdminClient {
    private let sockets: [String]
    private let client = HTTPClient()

    /// Takes the paths to try, in this order.
    package init(sockets: [String]) { self.sockets = sockets }

    /// Sends a request and decodes the answer.
    ///
    /// - Parameters:
    ///   - request: What to send.
    ///   - type: What the answer holds.
    /// - Returns: The answer.
    /// - Throws: When no server answers, it refuses, or the answer makes no sense.
    package func send<Answer: Decodable>(
        _ request: AdminRequest, for type: Answer.Type
    ) throws(CommandError) -> Answer {
        try AdminAnswer.decode(type, from: try exchange(request))
    }

    /// Sends a request that is answered without a body.
    ///
    /// - Parameter request: What to send.
    /// - Throws: When no server answers or it refuses.
    package func send(_ request: AdminRequest) throws(CommandError) {
        try AdminAnswer.check(try exchange(request))
    }

    private func exchange(_ request: AdminRequest) throws(CommandError) -> AdminAnswer {
        var attempts: [SocketAttempt] = []
        for path in sockets {
            do throws(CurlError) {
                let response = try client.send(httpRequest(request, socket: path))
                return AdminAnswer(status: response.status, body: response.body)
            } catch {
                // Only a connection that was never made may be tried elsewhere.
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
        if !request.body.isEmpty { message.fields = [("content-type", "application/json")] }
        return message
    }
}

/// An answer of the admin API.
package struct AdminAnswer: Sendable {
    /// The HTTP status.
    package let status: Int
    /// JSON; empty for none.
    package let body: [UInt8]

    /// Joins both.
    package init(status: Int, body: [UInt8]) {
        self.status = status
        self.body = body
    }

    /// Throws the refusal that an answer carries, if it does.
    ///
    /// - Parameter answer: What the server said.
    /// - Throws: The refusal, in the server's words where it gave some.
    package static func check(_ answer: AdminAnswer) throws(CommandError) {
        guard !(200...299).contains(answer.status) else { return }
        let failure = try? JSONDecoder().decode(DeviceAPI.Failure.self, from: Data(answer.body))
        let unexplained = DeviceAPI.Failure(
            error: "unexplained", detail: "The server's log says more: journalctl -u posthornd")
        throw .adminRefused(status: answer.status, failure ?? unexplained)
    }

    /// Reads what a good answer holds.
    ///
    /// - Parameters:
    ///   - type: What it should hold.
    ///   - answer: What the server said.
    /// - Returns: The value.
    /// - Throws: The refusal, or that the body makes no sense.
    package static func decode<Value: Decodable>(
        _ type: Value.Type, from answer: AdminAnswer
    ) throws(CommandError) -> Value {
        try check(answer)
        do {
            return try JSONDecoder().decode(type, from: Data(answer.body))
        } catch {
            throw .badAnswer(of: "the server", detail: "\(type) expected (status \(answer.status))")
        }
    }
}

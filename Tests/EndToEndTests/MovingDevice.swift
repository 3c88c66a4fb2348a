// SPDX-License-Identifier: Apache-2.0

internal import TestSupport

/// A device that connects to one node after the other, and acknowledges everything.
final class MovingDevice {
    /// Reports that neither the expected notifications nor a goodbye arrived.
    private struct MissingEnd: Error {
        let texts: [String]
    }

    let device: PlainDevice
    /// The texts in the order of their arrival.
    private(set) var texts: [String] = []

    init(_ device: PlainDevice) { self.device = device }

    func connect(to server: InstalledServer) async throws -> (socket: WebSocketDevice, status: Int) {
        let socket = try WebSocketDevice(server, secret: device.secret)
        return (socket, try await socket.connect().status)
    }

    /// Receives until a condition holds or the node closes the connection.
    func receive(on socket: WebSocketDevice, until isDone: ([String]) -> Bool = { _ in false }) async throws {
        var pingCount = 0
        while !isDone(texts) {
            let frame = try await socket.next()
            if frame.opcode == 9 {
                pingCount += 1
                // Two minutes pass meanwhile.
                guard pingCount < 6 else { throw MissingEnd(texts: texts) }
                try await socket.frame(10, frame.text)
            }
            if frame.opcode == 8 || frame.opcode == -1 { return }
            guard let id = frame.notificationID, let text = frame.text.firstMatch(of: /<([^>]+)>/) else {
                continue
            }
            texts.append(String(text.1))
            try? await socket.frame(1, #"{"acks":[{"id":\#(id),"outcome":"delivered"}]}"#)
        }
    }
}

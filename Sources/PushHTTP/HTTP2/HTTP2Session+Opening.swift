// SPDX-License-Identifier: Apache-2.0

internal import CNghttp2

extension HTTP2Session {
    /// The nghttp2 session, which is created at its first use.
    var handle: OpaquePointer {
        if let engine = unsafe engine { return unsafe engine }
        return unsafe startEngine()
    }

    /// Processes bytes while the connection's first frames are answered without nghttp2.
    func takeOpening(_ bytes: Span<UInt8>) {
        guard opening?.take(bytes) == false, let rest = opening.map({ Array($0.unanswered) }) else { return }
        _ = unsafe startEngine()
        feed(rest.span)
    }

    /// Creates the nghttp2 session, and brings it to the state that the peer has seen.
    private func startEngine() -> OpaquePointer {
        let engine = unsafe HTTP2Callbacks.makeSession(account)
        unsafe adopt(engine)
        guard let answered = opening.map({ Array($0.answered) }) else { return unsafe engine }
        notice.insert(contentsOf: opening?.takeOutput() ?? [], at: 0)
        hasSentSettings = true
        opening = nil
        submitSettings()
        dropOutput()
        feed(answered.span)
        dropOutput()
        return unsafe engine
    }

    /// Passes input to nghttp2.
    func feed(_ bytes: Span<UInt8>) {
        let taken = unsafe bytes.withUnsafeBufferPointer {
            unsafe nghttp2_session_mem_recv(handle, $0.baseAddress, $0.count)
        }
        if taken < 0 { endAfterError(Int32(truncatingIfNeeded: taken)) }
    }

    /// Discards output of nghttp2 that the peer has received already.
    private func dropOutput() {
        var frame: UnsafePointer<UInt8>?
        while unsafe nghttp2_session_mem_send(handle, &frame) > 0 {}
    }

    /// Appends the output of the connection's first frames.
    func collectOpening(into output: inout [UInt8]) {
        output.append(contentsOf: opening?.takeOutput() ?? [])
        output.append(contentsOf: notice)
        (notice, hasSentSettings) = ([], true)
    }
}

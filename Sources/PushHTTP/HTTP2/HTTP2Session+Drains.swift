// SPDX-License-Identifier: Apache-2.0

internal import CNghttp2

extension HTTP2Session {
    /// An answer is out to its last byte: lets a peer that is still uploading go on for a while, unless many do.
    func answerEnded(_ id: Int32) {
        guard let exchange = exchange(id), !exchange.requestEnded else { return }
        guard drained.begin(id, nowNanoseconds: nowNanoseconds) else { return stopUpload(id) }
        check(unsafe nghttp2_session_set_stream_user_data(handle, id, nil))
        end(exchange)
    }

    /// A piece of a body arrived for which there is no exchange.
    func drainedDataArrived(_ id: Int32, byteCount: Int) {
        if drained.take(id, byteCount: byteCount) { stopUpload(id) }
    }

    /// Fields arrived for which there is no exchange; nobody looks at them, but there may be no more.
    func drainedFieldsArrived(_ id: Int32, isEnd: Bool) {
        if !isEnd, drained.remove(id) { stopUpload(id) }
    }

    /// nghttp2 has closed a stream.
    func streamClosed(_ id: Int32) {
        guard let exchange = exchange(id) else {
            _ = drained.remove(id)
            return
        }
        end(exchange)
    }

    /// Stops the uploads that have outlived their answers for too long; the owner calls it each second or so.
    package func tick() {
        guard !isTerminated else { return }
        while let id = drained.removeExpired(nowNanoseconds: nowNanoseconds) { stopUpload(id) }
    }

    /// Tells a peer whose answer is out to stop its upload.
    private func stopUpload(_ id: Int32) {
        check(unsafe nghttp2_submit_rst_stream(handle, 0, id, NGHTTP2_NO_ERROR.rawValue))
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import CNghttp2

extension HTTP2Session {
    /// An answer is out to its last byte: a peer that is still uploading is told to stop once it has read the answer.
    ///
    /// The answer to a PING behind the answer shows that it has.
    func answerEnded(_ id: Int32) {
        guard let exchange = exchange(id), !exchange.requestEnded else { return }
        guard drained.begin(id, pingNumber: sentPingNumber + 1, nowNanoseconds: nowNanoseconds) else {
            return stopUpload(id)
        }
        ping()
        check(unsafe nghttp2_session_set_stream_user_data(handle, id, nil))
        end(exchange)
    }

    /// The peer has read all that stood before a PING of ours.
    func stopReadUploads() {
        while let id = drained.removeAnswered(pingNumber: answeredPingNumber) { stopUpload(id) }
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

    /// Stops the uploads that have outlived their answers for too long, and rests; the owner calls it each second or so.
    package func tick() {
        guard !isTerminated else { return }
        stopOldUploads()
        rest()
    }

    /// Stops the uploads whose time is over.
    func stopOldUploads() {
        while let id = drained.removeExpired(nowNanoseconds: nowNanoseconds) { stopUpload(id) }
    }

    /// Tells a peer whose answer is out to stop its upload.
    private func stopUpload(_ id: Int32) {
        check(unsafe nghttp2_submit_rst_stream(handle, 0, id, NGHTTP2_NO_ERROR.rawValue))
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import CNghttp2

extension HTTP2Session {
    /// Handles the end of an answer: a peer that is still uploading is told to stop once it has read the answer.
    ///
    /// The acknowledgement of a PING behind the answer shows that the peer has read it.
    ///
    /// - Parameter id: The stream's identifier.
    func answerEnded(_ id: Int32) {
        guard let exchange = exchange(id), !exchange.requestEnded else { return }
        guard drained.begin(id, pingNumber: pings.sent + 1, now: now) else {
            return stopUpload(id)
        }
        ping()
        check(unsafe nghttp2_session_set_stream_user_data(handle, id, nil))
        end(exchange)
    }

    /// Discards a piece of a body that has no exchange.
    func discard(_ byteCount: Int, of id: Int32) {
        if drained.take(id, byteCount: byteCount) { stopUpload(id) }
    }

    /// Handles a stream that nghttp2 has closed.
    func streamClosed(_ id: Int32) {
        guard let exchange = exchange(id) else {
            _ = drained.remove(id)
            return
        }
        end(exchange)
    }

    /// Stops the uploads that have outlived their answers for too long, and releases idle memory; called about once a
    /// second.
    package func tick() {
        guard !isTerminated else { return }
        stopOldUploads()
        // Nothing was sent or received since the last call.
        guard framePages.isIdle(frameCount: peerLimits.meter.completedFrameCount), !hasOutput else { return }
        exchanges.pool.rest()
        framePages.release()
    }

    /// Stops the uploads whose deadline has passed.
    func stopOldUploads() {
        while let id = drained.removeExpired(now: now) { stopUpload(id) }
    }

    /// Tells a peer whose answer was sent to stop its upload.
    func stopUpload(_ id: Int32) {
        check(unsafe nghttp2_submit_rst_stream(handle, 0, id, NGHTTP2_NO_ERROR.rawValue))
    }
}

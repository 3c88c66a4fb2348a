// SPDX-License-Identifier: Apache-2.0

/// The buffer in which nghttp2 builds frames of one session; its pages are released while nothing is sent.
@safe
struct HTTP2FramePages {
    /// Whether the buffer may hold pages.
    private(set) var areHeld = false
    private var buffer: UnsafeMutableRawPointer?
    private var hasSentSinceTick = false
    private var frameCountAtTick: UInt64 = 0

    /// Takes the buffer that nghttp2 has just allocated.
    mutating func adopt(_ buffer: UnsafeMutableRawPointer?) { unsafe self.buffer = buffer }

    /// Notes that a frame was sent.
    mutating func noteSent() { (hasSentSinceTick, areHeld) = (true, true) }

    /// Returns whether nothing was sent or received since the last call.
    mutating func isIdle(frameCount: UInt64) -> Bool {
        defer { (hasSentSinceTick, frameCountAtTick) = (false, frameCount) }
        return !hasSentSinceTick && frameCountAtTick == frameCount
    }

    /// Releases the pages.
    mutating func release() {
        guard areHeld, let buffer = unsafe buffer else { return }
        areHeld = false
        unsafe HTTP2Memory.forget(frameBuffer: buffer)
    }
}

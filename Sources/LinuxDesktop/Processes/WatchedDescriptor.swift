// SPDX-License-Identifier: Apache-2.0

internal import PushNet

/// A descriptor that the loop watches until this object is released; the closure is retained until then.
final class WatchedDescriptor {
    private let descriptor: FileDescriptor
    /// Weak, because tests release the loop first; the closure is released with it.
    private weak var loop: EventLoop?
    private let registration: Registration

    init(
        _ descriptor: consuming FileDescriptor, for readiness: Readiness, on loop: EventLoop,
        onReady: @escaping () -> Void
    ) throws(NetError) {
        registration = try loop.register(descriptor.rawValue, for: readiness, handler: Relay(onReady))
        self.descriptor = descriptor
        self.loop = loop
    }

    deinit { loop?.deregister(registration) }

    var number: Int32 { descriptor.rawValue }

    private final class Relay: EventHandler {
        private let onReady: () -> Void
        init(_ onReady: @escaping () -> Void) { self.onReady = onReady }
        func ready(_ readiness: Readiness) { onReady() }
    }
}

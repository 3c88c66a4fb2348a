// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// Hears from the kernel when addresses or routes of this machine change: rtnetlink(7).
///
/// What changed is not read: who cares looks at what matters to them. A change seldom comes alone, so a moment is waited.
package final class RouteWatch: EventHandler {
    /// From the first of some changes to the call.
    private static let pause: Duration = .milliseconds(250)
    private static let readByteCount = 8192

    private let socket: FileDescriptor
    private let loop: EventLoop
    private let onChange: () -> Void
    private var registration: Registration?
    private var timer: TimerID?

    /// Listens until `stop`.
    ///
    /// - Parameters:
    ///   - loop: Whose thread this is.
    ///   - onChange: Called once for changes that came close together.
    /// - Throws: `NetError.system` where the kernel, or a sandbox, gives no such socket.
    package init(loop: EventLoop, onChange: @escaping () -> Void) throws(NetError) {
        let type = Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard let descriptor = try syscall("socket", { Glibc.socket(AF_NETLINK, type, NETLINK_ROUTE) }) else {
            throw systemFailure("socket", EAGAIN)
        }
        socket = FileDescriptor(adopting: descriptor)
        self.loop = loop
        self.onChange = onChange
        var address = sockaddr_nl()
        address.nl_family = sa_family_t(AF_NETLINK)
        let groups = RTMGRP_IPV4_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_IFADDR | RTMGRP_IPV6_ROUTE
        address.nl_groups = UInt32(groups)
        _ = try syscall("bind", about: "the kernel's news of routes") {
            unsafe withUnsafePointer(to: address) { address in
                unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_nl>.size))
                }
            }
        }
        registration = try loop.register(descriptor, for: .readable, handler: self)
    }

    /// Ends it; must come before the loop goes.
    package func stop() {
        if let registration { loop.deregister(registration) }
        registration = nil
        if let timer { loop.cancel(timer) }
        timer = nil
    }

    /// Drops what came.
    package func ready(_ readiness: Readiness) {
        var buffer = [UInt8](repeating: 0, count: Self.readByteCount)
        // ENOBUFS says that more came than the socket holds, which is a change as well.
        while unsafe recv(socket.rawValue, &buffer, buffer.count, 0) > 0 || errno == EINTR || errno == ENOBUFS {}
        guard timer == nil else { return }
        timer = loop.schedule(after: Self.pause) { [weak self] in
            self?.timer = nil
            self?.onChange()
        }
    }
}

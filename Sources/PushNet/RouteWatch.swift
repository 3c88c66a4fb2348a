// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// Reports changes of this machine's addresses and routes, as announced by the kernel: rtnetlink(7).
///
/// The contents of the messages are not read: each observer checks its own state. Changes seldom come alone, so the
/// call is delayed for a moment.
package final class RouteWatch: EventHandler {
    /// The delay from the first change to the call.
    private static let pause: Duration = .milliseconds(250)
    private static let readByteCount = 8192

    private let socket: FileDescriptor
    private let loop: EventLoop
    private let onChange: () -> Void
    private var registration: Registration?
    private var timer: TimerID?

    /// Starts watching until `stop`.
    ///
    /// - Parameters:
    ///   - loop: The loop of the current thread.
    ///   - onChange: Called once for a group of changes in quick succession.
    /// - Throws: `NetError.system` if the kernel or a sandbox does not permit such a socket.
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
        _ = try syscall("bind", about: "the kernel's route events") {
            unsafe withUnsafePointer(to: address) { address in
                unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_nl>.size))
                }
            }
        }
        registration = try loop.register(descriptor, for: .readable, handler: self)
    }

    /// Stops watching; call it before the loop is deallocated.
    package func stop() {
        if let registration { loop.deregister(registration) }
        registration = nil
        if let timer { loop.cancel(timer) }
        timer = nil
    }

    /// Discards the received messages and schedules the call.
    package func ready(_ readiness: Readiness) {
        var buffer = [UInt8](repeating: 0, count: Self.readByteCount)
        // ENOBUFS means that messages overflowed the socket's buffer, which is a change as well.
        while unsafe recv(socket.rawValue, &buffer, buffer.count, 0) > 0 || errno == EINTR || errno == ENOBUFS {}
        guard timer == nil else { return }
        timer = loop.schedule(after: Self.pause) { [weak self] in
            self?.timer = nil
            self?.onChange()
        }
    }
}

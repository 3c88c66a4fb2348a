// SPDX-License-Identifier: Apache-2.0

internal import CCurl
internal import Glibc

/// A set of transfers that share connections; owns one `CURLM *`.
///
/// This object is separate from `MultiClient`, because curl_multi_cleanup(3) still calls the callbacks while it closes
/// connections.
@safe final class MultiHandle {
    /// The maximum number of pooled connections; more than one per server would be a bug.
    private static let connectionCountMax = 8

    private let pointer: UnsafeMutableRawPointer
    private let watcher: any SocketWatcher
    private var watchedSockets: [Int32: (readable: Bool, writable: Bool)] = [:]
    private var isClosed = false

    init(watcher: any SocketWatcher) {
        precondition(CurlLibrary.isReady, "curl_global_init failed: out of memory, or no TLS library")
        guard let pointer = unsafe curl_multi_init() else { preconditionFailure("curl_multi_init: out of memory") }
        unsafe self.pointer = pointer
        self.watcher = watcher
        let userData = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe check(push_curl_multi_set_socket_function(pointer, socketCallback))
        unsafe check(push_curl_multi_set_pointer(pointer, CURLMOPT_SOCKETDATA, userData))
        unsafe check(push_curl_multi_set_timer_function(pointer, timerCallback))
        unsafe check(push_curl_multi_set_pointer(pointer, CURLMOPT_TIMERDATA, userData))
        unsafe check(push_curl_multi_set_long(pointer, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX)))
        unsafe check(push_curl_multi_set_long(pointer, CURLMOPT_MAXCONNECTS, Self.connectionCountMax))
    }

    /// Closes the connections; every transfer must have been removed.
    func close() {
        isClosed = true
        // The sockets are released before they are closed, because curl_multi_cleanup(3) does not announce every socket
        // that it closes.
        for socket in watchedSockets.keys { watcher.watch(socket, readable: false, writable: false) }
        watchedSockets = [:]
        watcher.setTimer(after: nil)
        unsafe check(curl_multi_cleanup(pointer))
    }

    deinit { precondition(isClosed, "a MultiHandle was dropped without close()") }

    /// Makes a transfer report every socket that it opens to this set; must be called before `add`.
    func adopt(_ handle: EasyHandle) {
        unsafe handle.setOpenFunction(socketOpenedCallback, Unmanaged.passUnretained(self).toOpaque())
    }

    func add(_ handle: EasyHandle) { unsafe check(curl_multi_add_handle(pointer, handle.pointer)) }

    func remove(_ handle: EasyHandle) { unsafe check(curl_multi_remove_handle(pointer, handle.pointer)) }

    /// Tells libcurl that a socket is ready, or, with both flags false, that it failed.
    func act(on socket: Int32, readable: Bool, writable: Bool) {
        var mask: Int32 = 0
        if readable { mask |= CURL_CSELECT_IN }
        if writable { mask |= CURL_CSELECT_OUT }
        if mask == 0 { mask = CURL_CSELECT_ERR }
        var runningCount: Int32 = 0
        unsafe check(curl_multi_socket_action(pointer, socket, mask, &runningCount))
    }

    /// Tells libcurl that its timer has expired.
    func actOnTimer() {
        var runningCount: Int32 = 0
        unsafe check(curl_multi_socket_action(pointer, CURL_SOCKET_BAD, 0, &runningCount))
    }

    /// Returns the next transfer that has ended, by the pointer of its handle.
    func nextFinished() -> (handle: UInt, code: CURLcode)? {
        var waitingCount: Int32 = 0
        while let message = unsafe curl_multi_info_read(pointer, &waitingCount) {
            guard unsafe message.pointee.msg == CURLMSG_DONE, let easy = unsafe message.pointee.easy_handle else {
                continue
            }
            return unsafe (UInt(bitPattern: easy), message.pointee.data.result)
        }
        return nil
    }

    /// Stops the program for a wrong call or a lack of memory; a peer cannot cause such a failure.
    private func check(_ code: CURLMcode) {
        guard code != CURLM_OK else { return }
        preconditionFailure(unsafe "libcurl refused a call: \(String(cString: curl_multi_strerror(code)))")
    }

    fileprivate func socketChanged(_ socket: Int32, what: Int32) {
        guard !isClosed else { return }
        let readable = what == CURL_POLL_IN || what == CURL_POLL_INOUT
        let writable = what == CURL_POLL_OUT || what == CURL_POLL_INOUT
        watchedSockets[socket] = readable || writable ? (readable, writable) : nil
        watcher.watch(socket, readable: readable, writable: writable)
    }

    /// Registers a socket again if its number is still watched.
    ///
    /// When several addresses race, libcurl 7.88 closes the socket that lost and reports that only later, or never if
    /// the next socket gets the same number. libcurl then assumes that the new socket is watched.
    ///
    /// - Parameter socket: The new socket.
    fileprivate func socketOpened(_ socket: Int32) {
        guard let wanted = watchedSockets[socket] else { return }
        watcher.watch(socket, readable: false, writable: false)
        watcher.watch(socket, readable: wanted.readable, writable: wanted.writable)
    }

    fileprivate func timerChanged(milliseconds: Int) {
        guard !isClosed else { return }
        watcher.setTimer(after: milliseconds < 0 ? nil : .milliseconds(milliseconds))
    }
}

// MARK: Callbacks

private func socketCallback(
    _ easy: UnsafeMutableRawPointer?, _ socket: Int32, _ what: Int32, _ userData: UnsafeMutableRawPointer?,
    _ socketData: UnsafeMutableRawPointer?
) -> Int32 {
    guard let userData = unsafe userData else { return 0 }
    unsafe Unmanaged<MultiHandle>.fromOpaque(userData).takeUnretainedValue().socketChanged(socket, what: what)
    return 0
}

private func timerCallback(
    _ multi: UnsafeMutableRawPointer?, _ milliseconds: Int, _ userData: UnsafeMutableRawPointer?
) -> Int32 {
    guard let userData = unsafe userData else { return 0 }
    unsafe Unmanaged<MultiHandle>.fromOpaque(userData).takeUnretainedValue().timerChanged(milliseconds: milliseconds)
    return 0
}

/// Opens a socket as libcurl would, and reports it to the set.
private func socketOpenedCallback(
    _ userData: UnsafeMutableRawPointer?, _ purpose: curlsocktype, _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> Int32 {
    guard let userData = unsafe userData, let address = unsafe address else { return CURL_SOCKET_BAD }
    let type = unsafe address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
    let descriptor = unsafe socket(address.pointee.family, type, address.pointee.protocol)
    if descriptor >= 0 {
        unsafe Unmanaged<MultiHandle>.fromOpaque(userData).takeUnretainedValue().socketOpened(descriptor)
    }
    return descriptor
}

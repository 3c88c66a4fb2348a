// SPDX-License-Identifier: Apache-2.0

internal import CCurl
internal import Glibc

/// A client for concurrent requests on a thread of its own (`curl_multi_poll`).
///
/// It is not Sendable: create, use and release it on that thread. Other threads wake it through `waker`.
package final class ThreadClient {
    private struct Transfer {
        let handle: EasyHandle
        let collector: AnswerCollector
        let completion: (Result<HTTPResponse, CurlError>) -> Void
    }

    private let multi: PolledHandle
    private var transfers: [UInt: Transfer] = [:]

    /// Creates a client without a connection; nil if the kernel has no descriptors for its wake-ups.
    package init?() {
        guard let multi = PolledHandle() else { return nil }
        self.multi = multi
    }

    deinit {
        for transfer in transfers.values {
            transfer.collector.isMuted = true
            multi.remove(transfer.handle)
        }
    }

    /// A handle for other threads that ends `wait`.
    package var waker: ThreadClientWaker { ThreadClientWaker(multi: multi) }

    /// Starts a request, which `wait` then sends.
    ///
    /// - Parameters:
    ///   - request: The request to send; without a `timeout` it may run indefinitely.
    ///   - completion: Receives the response, whatever its status is, or the error. Called in `wait`; never after the
    ///     client is released.
    package func start(
        _ request: HTTPRequest, completion: @escaping (Result<HTTPResponse, CurlError>) -> Void
    ) {
        let collector = AnswerCollector(for: request)
        let handle = EasyHandle()
        handle.configure(request, sink: collector)
        unsafe transfers[UInt(bitPattern: handle.pointer)] = Transfer(
            handle: handle, collector: collector, completion: completion)
        multi.add(handle)
    }

    /// Transfers data until an event, the timeout or a wake-up, then calls the completions of finished requests.
    package func wait(atMost duration: Duration) {
        multi.wait(milliseconds: Int32(clamping: duration.wholeMilliseconds), transferCount: transfers.count)
        while let (pointer, code) = multi.nextFinished() {
            guard let transfer = transfers.removeValue(forKey: pointer) else { continue }
            let result = transfer.collector.finish(transfer.handle, code)
            multi.remove(transfer.handle)
            transfer.completion(result)
        }
    }
}

/// Wakes the thread of a `ThreadClient` from any thread.
package struct ThreadClientWaker: Sendable {
    fileprivate let multi: PolledHandle

    /// Ends the running `wait`, or else the next one.
    package func wake() { multi.wake() }
}

/// A set of transfers that share connections; owns one `CURLM *`.
// Safety: only `wake` is called from other threads, which curl_multi_wakeup(3) allows at any time before the cleanup.
@safe
private final class PolledHandle: @unchecked Sendable {
    private let pointer: UnsafeMutableRawPointer

    /// Creates a set; nil if it cannot be woken up.
    ///
    /// `curl_multi_init` succeeds even if the kernel refuses the descriptors for wake-ups, so the first wake-up is tried.
    init?() {
        precondition(CurlLibrary.isReady, "curl_global_init failed: out of memory, or no TLS library")
        guard let pointer = unsafe curl_multi_init() else { preconditionFailure("curl_multi_init: out of memory") }
        unsafe self.pointer = pointer
        guard unsafe curl_multi_wakeup(pointer) == CURLM_OK else { return nil }
    }

    deinit { _ = unsafe curl_multi_cleanup(pointer) }

    func add(_ handle: EasyHandle) { unsafe check(curl_multi_add_handle(pointer, handle.pointer)) }

    func remove(_ handle: EasyHandle) { unsafe check(curl_multi_remove_handle(pointer, handle.pointer)) }

    func wake() { unsafe check(curl_multi_wakeup(pointer)) }

    func wait(milliseconds: Int32, transferCount: Int) {
        var runningCount: Int32 = 0
        // New requests are sent first, so that there is something to wait for.
        unsafe check(curl_multi_perform(pointer, &runningCount))
        // A transfer that has just ended is reported immediately, because no socket event would end the wait for it.
        let pause = runningCount < transferCount ? 0 : milliseconds
        unsafe check(curl_multi_poll(pointer, nil, 0, pause, nil))
        unsafe check(curl_multi_perform(pointer, &runningCount))
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
}

// SPDX-License-Identifier: Apache-2.0

internal import CCurl

/// Many requests on shared HTTP/2 connections, driven by the caller's event loop (`curl_multi_socket_action`).
///
/// Not Sendable: made, used and dropped on the loop's thread. Its closures may call every method of it: libcurl may not
/// be entered twice, so what they ask for is done once libcurl has returned.
package final class MultiClient {
    private struct Transfer {
        let id: TransferID
        let handle: EasyHandle
        let collector: AnswerCollector
        /// Gets the connection, where that is all there is to do; the transfer goes on until it is cancelled.
        var onConnect: ((CurlChannel) -> Void)?
        let completion: (Result<HTTPResponse, CurlError>) -> Void
    }

    private let watcher: any SocketWatcher
    private var multi: MultiHandle
    private var transfers: [TransferID: Transfer] = [:]
    private var idsByHandle: [UInt: TransferID] = [:]
    private var transferCount: UInt64 = 0
    private var isInsideLibrary = false
    private var deferred: [() -> Void] = []

    /// Makes a client without a connection; it keeps the watcher, which must not keep the client.
    package init(watcher: any SocketWatcher) {
        self.watcher = watcher
        multi = MultiHandle(watcher: watcher)
    }

    deinit {
        for transfer in transfers.values {
            transfer.collector.isMuted = true
            multi.remove(transfer.handle)
        }
        multi.close()
    }

    /// Starts a request.
    ///
    /// Ends with exactly one call of `completion`, on the loop, unless cancelled; never before this call has returned.
    ///
    /// - Parameters:
    ///   - request: What to send; without `timeout` it may last for ever.
    ///   - onHead: Gets the head of the answer before its body.
    ///   - onBody: Gets each piece of the body as it arrives; the response's body is empty then.
    ///   - completion: Gets the answer, of whatever status, or what went wrong.
    /// - Returns: The name for `cancel`.
    @discardableResult
    package func start(
        _ request: HTTPRequest, onHead: ((HTTPResponse) -> Void)? = nil, onBody: ((Span<UInt8>) -> Void)? = nil,
        completion: @escaping (Result<HTTPResponse, CurlError>) -> Void
    ) -> TransferID {
        let collector = AnswerCollector(for: request, onHead: onHead, onBody: onBody)
        return start(request, collector, onConnect: nil, completion)
    }

    /// Makes a connection, by HTTP/1.1's rules for proxies and TLS, for a protocol that libcurl does not speak.
    ///
    /// Calls either closure, on the loop and never before this call has returned; `onFailure` later too, when
    /// `abandonConnections` ends the connection.
    ///
    /// - Parameters:
    ///   - request: Where to, and whom to trust; nothing of it is sent. `timeout` bounds the connecting.
    ///   - onConnect: Gets the connection, which lives until `cancel`.
    ///   - onFailure: Gets why there is none.
    /// - Returns: The name for `cancel`.
    package func connect(
        _ request: HTTPRequest, onConnect: @escaping (CurlChannel) -> Void, onFailure: @escaping (CurlError) -> Void
    ) -> TransferID {
        var request = request
        request.connectsOnly = true
        return start(request, AnswerCollector(for: request), onConnect: onConnect) { result in
            switch result {
            case .failure(let error): onFailure(error)
            case .success: onFailure(.unusable("the connection has no socket"))
            }
        }
    }

    private func start(
        _ request: HTTPRequest, _ collector: AnswerCollector, onConnect: ((CurlChannel) -> Void)?,
        _ completion: @escaping (Result<HTTPResponse, CurlError>) -> Void
    ) -> TransferID {
        transferCount += 1
        let id = TransferID(rawValue: transferCount)
        let handle = EasyHandle()
        handle.configure(request, sink: collector)
        transfers[id] = Transfer(
            id: id, handle: handle, collector: collector, onConnect: onConnect, completion: completion)
        unsafe idsByHandle[UInt(bitPattern: handle.pointer)] = id
        whenOutside { [unowned self] in
            // Cancelled or abandoned before it began.
            guard transfers[id] != nil else { return }
            multi.adopt(handle)
            enterLibrary { multi.add(handle) }
        }
        return id
    }

    /// Ends a request without a word; nothing happens when it has ended already.
    ///
    /// - Parameter transfer: What `start` returned.
    package func cancel(_ transfer: TransferID) {
        guard let cancelled = forget(transfer) else { return }
        cancelled.collector.isMuted = true
        whenOutside { [unowned self] in enterLibrary { multi.remove(cancelled.handle) } }
    }

    /// Gives all connections up, dead or alive: running requests fail as interrupted, later ones connect anew.
    package func abandonConnections() {
        let abandoned = transfers.values.sorted { $0.id.rawValue < $1.id.rawValue }
        for transfer in abandoned {
            _ = forget(transfer.id)
            transfer.collector.isMuted = true
        }
        whenOutside { [unowned self] in
            for transfer in abandoned { multi.remove(transfer.handle) }
            multi.close()
            multi = MultiHandle(watcher: watcher)
            for transfer in abandoned { transfer.completion(.failure(.abandoned)) }
        }
    }

    /// Call when a watched socket became ready; neither means that it failed.
    package func socketReady(_ socket: Int32, readable: Bool, writable: Bool) {
        enterLibrary { multi.act(on: socket, readable: readable, writable: writable) }
        finishTransfers()
    }

    /// Call when the timer fired.
    package func timerFired() {
        enterLibrary { multi.actOnTimer() }
        finishTransfers()
    }

    // MARK: Keeping out of libcurl while it calls us

    private func enterLibrary(_ body: () -> Void) {
        precondition(!isInsideLibrary, "libcurl was entered from one of its own callbacks")
        isInsideLibrary = true
        body()
        isInsideLibrary = false
        runDeferred()
    }

    private func whenOutside(_ action: @escaping () -> Void) {
        guard isInsideLibrary else { return action() }
        deferred.append(action)
    }

    private func runDeferred() {
        while !isInsideLibrary, !deferred.isEmpty { deferred.removeFirst()() }
    }

    private func finishTransfers() {
        while let (pointer, code) = multi.nextFinished() {
            guard let id = idsByHandle[pointer] else { continue }
            if code == CURLE_OK, let onConnect = transfers[id]?.onConnect,
                let channel = transfers[id].flatMap({ CurlChannel($0.handle) })
            {
                onConnect(channel)
                continue
            }
            guard let transfer = forget(id) else { continue }
            let result = transfer.collector.finish(transfer.handle, code)
            enterLibrary { multi.remove(transfer.handle) }
            transfer.completion(result)
        }
    }

    private func forget(_ id: TransferID) -> Transfer? {
        guard let transfer = transfers.removeValue(forKey: id) else { return nil }
        unsafe _ = idsByHandle.removeValue(forKey: UInt(bitPattern: transfer.handle.pointer))
        return transfer
    }
}

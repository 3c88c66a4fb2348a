// SPDX-License-Identifier: Apache-2.0

internal import CCurl

/// A client for concurrent requests on shared HTTP/2 connections, driven by the caller's event loop.
///
/// It uses `curl_multi_socket_action`. It is not Sendable: create, use and release it on the loop's thread. Its
/// closures may call all its methods: libcurl is not reentrant, so these calls take effect after libcurl has returned.
package final class MultiClient {
    private struct Transfer {
        let id: TransferID
        let handle: EasyHandle
        let collector: AnswerCollector
        /// Called with the connection of a transfer that only connects; such a transfer runs until it is canceled.
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

    /// Creates a client without a connection; it retains the watcher, which must not retain the client.
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
    /// Calls `completion` exactly once, on the loop, unless the request is canceled; never before this function
    /// returns.
    ///
    /// - Parameters:
    ///   - request: The request to send; without a `timeout` it may run indefinitely.
    ///   - onHead: Receives the head of the response before its body.
    ///   - onBody: Receives each piece of the body as it arrives; the response's body is then empty.
    ///   - completion: Receives the response, whatever its status is, or the error.
    /// - Returns: The ID for `cancel`.
    @discardableResult
    package func start(
        _ request: HTTPRequest, onHead: ((HTTPResponse) -> Void)? = nil, onBody: ((Span<UInt8>) -> Void)? = nil,
        completion: @escaping (Result<HTTPResponse, CurlError>) -> Void
    ) -> TransferID {
        let collector = AnswerCollector(for: request, onHead: onHead, onBody: onBody)
        return start(request, collector, onConnect: nil, completion)
    }

    /// Sends a request and waits for the response, whatever its status is.
    ///
    /// - Parameter request: The request to send; without a `timeout` it may run indefinitely.
    /// - Returns: The response.
    /// - Throws: The error; `interrupted` after `abandonConnections`.
    package func response(to request: HTTPRequest) async throws(CurlError) -> HTTPResponse {
        try await withCheckedContinuation { continuation in
            _ = start(request) { continuation.resume(returning: $0) }
        }.get()
    }

    /// Opens a connection, with HTTP/1.1's rules for proxies and TLS, for a protocol that libcurl does not implement.
    ///
    /// Calls one of the closures, on the loop and never before this function returns. After `onConnect`, `onFailure`
    /// follows if `abandonConnections` ends the connection.
    ///
    /// - Parameters:
    ///   - request: The URL and the transport options; no request is sent. `timeout` limits the time to connect.
    ///   - onConnect: Receives the connection, which is open until `cancel`.
    ///   - onFailure: Receives the error.
    /// - Returns: The ID for `cancel`.
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
            // The request may have been canceled or abandoned before it started.
            guard transfers[id] != nil else { return }
            multi.adopt(handle)
            enterLibrary { multi.add(handle) }
        }
        return id
    }

    /// Cancels a request without calling its closures; does nothing if it has ended.
    ///
    /// - Parameter transfer: The ID that `start` returned.
    package func cancel(_ transfer: TransferID) {
        guard let canceled = forget(transfer) else { return }
        canceled.collector.isMuted = true
        whenOutside { [unowned self] in enterLibrary { multi.remove(canceled.handle) } }
    }

    /// Abandons all connections, dead or alive: running requests fail as interrupted, and later ones reconnect.
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

    /// Handles a watched socket that became ready; both flags are false if the socket failed.
    package func socketReady(_ socket: Int32, readable: Bool, writable: Bool) {
        enterLibrary { multi.act(on: socket, readable: readable, writable: writable) }
        finishTransfers()
    }

    /// Handles the expiration of the timer.
    package func timerFired() {
        enterLibrary { multi.actOnTimer() }
        finishTransfers()
    }

    // MARK: Avoiding reentrant calls of libcurl

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

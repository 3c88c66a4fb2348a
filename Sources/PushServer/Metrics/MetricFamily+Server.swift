// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP
internal import PushNet
internal import PushServing
internal import PushStore
internal import PushWebSocket

extension MetricFamily {
    /// Connections, and the limits of their protocols and memory.
    static let connections: [MetricFamily] = [
        .gauge("posthorn_connections", "Open connections of providers, devices and other nodes, by kind.", by: "kind") {
            source in
            [
                Sample(Int64(source.connections.devices), "device"),
                Sample(Int64(source.connections.providers), "provider"),
                Sample(Int64(source.connections.nodes), "node"),
                Sample(Int64(source.connections.strangers), "stranger"),
            ]
        },
        .gauge("posthorn_connections_limit", "The maximum number of connections.") {
            [Sample(Int64($0.context.serving.limiter.caps.all))]
        },
        .counter("posthorn_connections_opened", "Accepted connections.") { [Sample(Int64($0.connections.opened))] },
        .counter("posthorn_connections_shed", "Connections that were closed to free capacity for others.") {
            [Sample(Int64($0.connections.shed))]
        },
        .counter("posthorn_connections_over_limit", "Connections that arrived when a limit was reached.") {
            [Sample(Int64($0.connections.overLimit))]
        },
        .counter(
            "posthorn_sessions_failed", "HTTP and WebSocket sessions that ended because the peer violated the protocol."
        ) { [Sample($0.sum(\.failedSessions.value))] },
        .counter("posthorn_http2_glitches", "HTTP/2 frames that cost a peer nothing and request nothing.") {
            [Sample($0.sum(\.http2.glitches.value))]
        },
        .counter("posthorn_http2_limits", "Limits of HTTP/2 sessions that peers reached.", by: "limit") { source in
            HTTP2Metrics.Limit.allCases.map { limit in Sample(source.sum { $0.http2.count(of: limit) }, limit.word) }
        },
        .counter(
            "posthorn_websocket_glitches",
            "WebSocket frames from devices that request nothing: pings, pongs, empty frames and fragments."
        ) { [Sample($0.metrics.apis.reduce(0) { $0 + $1.webSockets.glitches.value })] },
        .counter(
            "posthorn_websocket_failures",
            "WebSocket connections that ended because the device violated the protocol or a limit.", by: "cause"
        ) { source in
            WebSocketMetrics.Failure.allCases.map { failure in
                Sample(source.metrics.apis.reduce(0) { $0 + $1.webSockets.count(of: failure) }, failure.word)
            }
        },
        .gauge("posthorn_connections_memory_bytes", "The memory that connections hold for their peers.") {
            [Sample(Int64($0.context.serving.memory.heldByteCount))]
        },
        .gauge("posthorn_connections_memory_limit_bytes", "The memory that connections may hold for their peers.") {
            [Sample(Int64($0.context.serving.memory.byteCountMax))]
        },
        .counter(
            "posthorn_connections_paused", "Connections that the server stopped reading because of their memory."
        ) { [Sample(Int64($0.context.serving.memory.pauseCount))] },
        .counter(
            "posthorn_loop_busy_seconds", "The time that a loop has worked; its rate is the busy share.", by: "loop"
        ) { source in
            source.metrics.loops.indices.map { index in
                let name = index == source.metrics.loops.count - 1 ? "control" : "\(index)"
                return Sample(nanoseconds: source.metrics.loops[index].busy.value, name)
            }
        },
    ]

    /// The store, the certificate and the webhooks.
    static let store: [MetricFamily] = [
        .counter("posthorn_store_busy_seconds", "The time that the store has worked; its rate is the busy share.") {
            [Sample(nanoseconds: $0.store.busyNanoseconds(now: $0.now))]
        },
        .gauge(
            "posthorn_store_waiting_commands",
            "Commands that wait for the store's next turn; without a value for PostgreSQL."
        ) { $0.store.cluster == nil ? [Sample($0.store.waitingCommands.value)] : [] },
        .gauge("posthorn_store_waiting_requests", "Requests and broadcasts that wait for their share of the store.") {
            [Sample($0.store[.waitingRequests])]
        },
        .gauge("posthorn_store_size_bytes", "The size of the database file, or of the tables in PostgreSQL.") {
            [Sample($0.store.cluster == nil ? $0.databaseByteCount() : $0.store[.byteCount])]
        },
        .gauge(
            "posthorn_store_wal_size_bytes",
            "The size of the database's write-ahead log; without a value for PostgreSQL."
        ) { $0.store.cluster == nil ? [Sample($0.databaseByteCount("-wal"))] : [] },
        .gauge("posthorn_store_disk_full", "1 while the disk is full, otherwise 0.") {
            [Sample($0.context.storeCondition.diskFullSince == nil ? 0 : 1)]
        },
        .gauge(
            "posthorn_certificate_expiry_timestamp_seconds",
            "The expiry time of the certificate that the server presents."
        ) { $0.certificateExpiry.map { [Sample($0.unixSeconds)] } ?? [] },
        .counter("posthorn_webhook_requests", "Requests to the webhooks of back-ends.", by: "result") { source in
            [
                Sample(source.metrics.webhooks.acceptedRequests.value, "accepted"),
                Sample(source.metrics.webhooks.failedRequests.value, "failed"),
            ]
        },
        .counter(
            "posthorn_webhook_gaps", "Times that events were deleted from the trace before a back-end received them."
        ) { [Sample($0.metrics.webhooks.gaps.value)] },
        .gauge(
            "posthorn_webhook_lag_seconds",
            "The time since the slowest webhook last had received everything; 0 if all have."
        ) { [Sample(nanoseconds: $0.webhookLagNanoseconds)] },
        .gauge(
            "posthorn_webhook_lag_bytes",
            "The part of the trace that the slowest webhook has not received; 0 if all have."
        ) { [Sample($0.webhookLagByteCount)] },
    ]

    /// The process and its resources.
    static let process: [MetricFamily] = [
        .constant("posthorn_build", "The version of the server.", by: "version") { _ in [Sample(1, ProductVersion.text)]
        },
        .gauge("process_start_time_seconds", "The time at which the server started.") {
            [Sample($0.context.startedAt.unixSeconds)]
        },
        .counter("process_cpu_seconds", "The processor time of the process.") { _ in
            [Sample(nanoseconds: ProcessLimits.processorNanoseconds)]
        },
        .gauge("process_resident_memory_bytes", "The resident memory of the process.") { _ in
            ProcessLimits.residentByteCount.map { [Sample(Int64($0))] } ?? []
        },
        .gauge("process_open_fds", "The open descriptors of the process.") { _ in
            ProcessLimits.openDescriptorCount.map { [Sample(Int64($0))] } ?? []
        },
        .gauge("process_max_fds", "The maximum number of open descriptors.") { _ in
            [Sample(Int64(ProcessLimits.descriptorCountMax))]
        },
    ]
}

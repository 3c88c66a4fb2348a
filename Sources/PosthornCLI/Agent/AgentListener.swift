// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import Glibc
internal import PushDBus

/// Receives the agent's signals while the bus is connected, across restarts of the agent.
///
/// Signals only say that something changed; the caller then queries the agent. A forged signal therefore has no effect.
final class AgentListener {
    /// The events since the last call of `wait`.
    struct News {
        /// The received signals.
        var signals: Set<AgentSignal> = []
        /// Whether the agent appeared on the bus.
        var isBack = false
        /// Whether the agent left the bus.
        var isGone = false

        var isEmpty: Bool { signals.isEmpty && !isBack && !isGone }
    }

    private let connection: BusConnection
    private let busValue: String?
    private var news = News()

    /// Subscribes to the given signals and to changes of the agent's bus name.
    init(_ agent: AgentClient, to signals: [AgentSignal]) throws(CommandError) {
        connection = agent.connection
        busValue = agent.busValue
        do throws(BusError) {
            for signal in signals {
                try connection.subscribe(
                    sender: nil, path: AgentInterface.path, interface: AgentInterface.name, member: signal.rawValue
                ) { [weak self] _ in self?.news.signals.insert(signal) }
            }
            try connection.watchOwner(of: AgentInterface.name) { [weak self] owner in
                if owner == nil { self?.news.isGone = true } else { self?.news.isBack = true }
            }
        } catch {
            throw AgentAnswer.failure(error, busValue: busValue)
        }
    }

    /// Blocks until at least one event arrives, then returns all pending events.
    func wait() throws(CommandError) -> News {
        while true {
            do throws(BusError) {
                try connection.process()
            } catch {
                throw .noBus(variable: busValue, error.message)
            }
            if !news.isEmpty {
                defer { news = News() }
                return news
            }
            sleep()
        }
    }

    private func sleep() {
        let wanted = connection.wantedEvents
        let events = (wanted.readable ? Int16(POLLIN) : 0) | (wanted.writable ? Int16(POLLOUT) : 0)
        var entry = pollfd(fd: connection.descriptor, events: events, revents: 0)
        let milliseconds = connection.timeout.map { Int32(clamping: $0.components.seconds &* 1000 &+ 1) } ?? -1
        // The result does not matter: after a signal or a timeout, the caller processes the connection again.
        _ = unsafe poll(&entry, 1, connection.timeout == .zero ? 0 : milliseconds)
    }
}

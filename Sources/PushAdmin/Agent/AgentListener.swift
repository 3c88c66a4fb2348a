// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushDBus

/// Hears the agent's signals for as long as the bus is there, over restarts of the agent.
///
/// Signals only say that something is new; what it is, the caller asks the agent. So nobody gains by sending one.
final class AgentListener {
    /// What happened since the last look.
    struct News {
        /// Members of the signals that came.
        var signals: Set<String> = []
        /// Whether the agent came to the bus.
        var isBack = false
        /// Whether the agent left the bus.
        var isGone = false

        /// Whether there is anything.
        var isEmpty: Bool { signals.isEmpty && !isBack && !isGone }
    }

    private let connection: BusConnection
    private let busValue: String?
    private var news = News()

    /// Listens from now on.
    init(_ agent: AgentClient, to members: [String]) throws(CommandError) {
        connection = agent.connection
        busValue = agent.busValue
        do throws(BusError) {
            for member in members {
                try connection.subscribe(
                    sender: nil, path: AgentClient.objectPath, interface: AgentClient.busName, member: member
                ) { [weak self] _ in self?.news.signals.insert(member) }
            }
            try connection.watchOwner(of: AgentClient.busName) { [weak self] owner in
                if owner == nil { self?.news.isGone = true } else { self?.news.isBack = true }
            }
        } catch {
            throw AgentAnswer.failure(error, busValue: busValue)
        }
    }

    /// Waits until there is something new.
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
        // Interrupted or not: the caller looks again.
        _ = unsafe poll(&entry, 1, connection.timeout == .zero ? 0 : milliseconds)
    }
}

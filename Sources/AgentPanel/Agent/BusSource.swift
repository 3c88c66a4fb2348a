// SPDX-License-Identifier: Apache-2.0

internal import PanelToolkit
internal import PushDBus

/// Integrates a bus connection into GLib's main loop.
final class BusSource {
    private let connection: BusConnection
    private let onEnd: () -> Void
    private var watch: MainLoop.Source?
    private var readiness: MainLoop.Readiness?
    private var timer: MainLoop.Source?
    private var isArming = false

    /// Starts watching the connection.
    ///
    /// - Parameters:
    ///   - connection: The connection to process.
    ///   - onEnd: Called once, when the connection breaks.
    init(_ connection: BusConnection, onEnd: @escaping () -> Void) {
        self.connection = connection
        self.onEnd = onEnd
        connection.activityHandler = { [weak self] in self?.armSoon() }
        arm()
    }

    /// Updates the watch later, because the connection may be in the middle of a call.
    private func armSoon() {
        guard !isArming else { return }
        isArming = true
        MainLoop.whenIdle { [weak self] in
            self?.isArming = false
            self?.arm()
        }
    }

    private func arm() {
        let wanted = connection.wantedEvents
        let readiness = MainLoop.Readiness(isReadable: wanted.readable, isWritable: wanted.writable)
        if readiness != self.readiness {
            watch?.cancel()
            watch = MainLoop.watch(connection.descriptor, for: readiness) { [weak self] in self?.process() }
            self.readiness = readiness
        }
        timer?.cancel()
        timer = connection.timeout.map { timeout in
            MainLoop.after(milliseconds: UInt32(clamping: timeout.wholeMilliseconds)) { [weak self] in
                self?.timer = nil
                self?.process()
            }
        }
    }

    private func process() {
        do throws(BusError) {
            try connection.process()
            arm()
        } catch {
            stop()
            onEnd()
        }
    }

    private func stop() {
        connection.activityHandler = nil
        watch?.cancel()
        timer?.cancel()
        (watch, timer) = (nil, nil)
    }
}

extension Duration {
    /// The duration in milliseconds, rounded up so that a timer never fires too early.
    fileprivate var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds.multipliedReportingOverflow(by: 1000).partialValue + (attoseconds + 999_999_999_999_999)
            / 1_000_000_000_000_000
    }
}

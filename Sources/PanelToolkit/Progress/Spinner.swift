// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A spinning activity indicator (`GtkSpinner`), which is invisible unless it spins.
package final class Spinner: Widget {
    /// The time from the moment when the indicator is on the screen to the moment when it spins.
    ///
    /// A shorter activity ends before, and the indicator does not flash.
    private static var delayMilliseconds: UInt32 { 1000 }

    private let timer = Timer()

    /// Creates an indicator that spins while it is on the screen, after a delay.
    ///
    /// A started spinner draws frames even in a hidden child of a `GtkStack`, so it is started only while it is mapped.
    /// Without animations it never starts, because a spinner that stands still looks as if the program hangs.
    package init() {
        unsafe super.init(gtk_spinner_new())
        // The handlers live as long as the widget, and this wrapper may end before.
        let (spinner, timer) = (unsafe address, timer)
        Signals.connect(self, "map") {
            timer.start(milliseconds: Self.delayMilliseconds) {
                if Desktop.allowsMotion { unsafe gtk_spinner_start(spinner) }
            }
        }
        Signals.connect(self, "unmap") {
            timer.stop()
            unsafe gtk_spinner_stop(spinner)
        }
    }
}

/// A single delayed call that can be canceled.
private final class Timer {
    private var source: MainLoop.Source?

    func start(milliseconds: UInt32, _ body: @escaping () -> Void) {
        stop()
        source = MainLoop.after(milliseconds: milliseconds) { [weak self] in
            self?.source = nil
            body()
        }
    }

    func stop() {
        source?.cancel()
        source = nil
    }
}

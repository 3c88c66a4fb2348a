// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita
internal import PushCore

/// A container that shows short messages above its content, one after the other (`AdwToastOverlay`).
package final class ToastOverlay: Widget {
    /// Creates a container with its content.
    package init(_ content: Widget) {
        unsafe super.init(adw_toast_overlay_new())
        unsafe adw_toast_overlay_set_child(address, content.cast())
    }

    /// Shows a message with a button for five seconds (`adw_toast_new`).
    ///
    /// - Parameters:
    ///   - text: The message.
    ///   - button: The label of the button.
    ///   - onPressed: Called when the user presses the button, before `onDismissed`.
    ///   - onDismissed: Called when the message disappears.
    /// - Returns: A function that dismisses the message; it does nothing if the message has disappeared.
    package func show(
        _ text: String, button: String, onPressed: @escaping () -> Void, onDismissed: @escaping () -> Void
    ) -> () -> Void {
        let toast = unsafe NativeObject(adopting: adw_toast_new(DisplayText.markup(text)))
        unsafe adw_toast_set_button_label(toast.address, button)
        Signals.connect(toast, "button-clicked", onPressed)
        Signals.connect(toast, "dismissed", onDismissed)
        // The overlay takes ownership of one reference.
        unsafe g_object_ref(UnsafeMutableRawPointer(toast.address))
        unsafe adw_toast_overlay_add_toast(address, toast.address)
        return { unsafe adw_toast_dismiss(toast.address) }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

extension Widget {
    /// The alignment of a widget in more space than it needs.
    package enum Alignment {
        case fill, start, center, end

        fileprivate var alignment: GtkAlign {
            switch self {
            case .fill: GTK_ALIGN_FILL
            case .start: GTK_ALIGN_START
            case .center: GTK_ALIGN_CENTER
            case .end: GTK_ALIGN_END
            }
        }
    }

    /// Sets the alignment (`gtk_widget_set_halign`, `gtk_widget_set_valign`).
    @discardableResult
    package func aligned(across: Alignment = .fill, down: Alignment = .fill) -> Self {
        unsafe gtk_widget_set_halign(cast(), across.alignment)
        unsafe gtk_widget_set_valign(cast(), down.alignment)
        return self
    }

    /// Lets the widget fill extra space (`gtk_widget_set_hexpand`, `gtk_widget_set_vexpand`).
    @discardableResult
    package func expanding(across: Bool = false, down: Bool = false) -> Self {
        unsafe gtk_widget_set_hexpand(cast(), across ? 1 : 0)
        unsafe gtk_widget_set_vexpand(cast(), down ? 1 : 0)
        return self
    }

    /// Sets the minimum size (`gtk_widget_set_size_request`); -1 keeps the widget's own.
    @discardableResult
    package func sized(width: Int = -1, height: Int = -1) -> Self {
        unsafe gtk_widget_set_size_request(cast(), Int32(clamping: width), Int32(clamping: height))
        return self
    }

    /// Sets the margins (`gtk_widget_set_margin_start` and related functions).
    @discardableResult
    package func padded(across: Int = 0, above: Int = 0, below: Int = 0) -> Self {
        unsafe gtk_widget_set_margin_start(cast(), Int32(across))
        unsafe gtk_widget_set_margin_end(cast(), Int32(across))
        unsafe gtk_widget_set_margin_top(cast(), Int32(above))
        unsafe gtk_widget_set_margin_bottom(cast(), Int32(below))
        return self
    }

    /// Fixes the direction to left-to-right, whatever the language (`gtk_widget_set_direction`).
    @discardableResult
    package func leftToRight() -> Self {
        unsafe gtk_widget_set_direction(cast(), GTK_TEXT_DIR_LTR)
        return self
    }

    /// Calls the body once, when the widget has its place in the window.
    ///
    /// After 30 frames the body is called in any case, so that a hidden widget does not keep the display busy.
    package func onceLaidOut(_ body: @escaping () -> Void) {
        var frameCount = 0
        unsafe MainLoop.onFrames(of: cast()) { [weak self] in
            guard let self else { return false }
            // A frame begins before its layout, so the first one has the layout of an earlier state.
            frameCount += 1
            let isReady = unsafe frameCount > 1 && isMapped && gtk_widget_get_height(cast()) > 0
            guard isReady || frameCount > 30 else { return true }
            body()
            return false
        }
    }

    /// Returns the natural height in pixels at a width, or at any width if it is -1 (`gtk_widget_measure`).
    package func naturalHeight(width: Int = -1) -> Int {
        var height: Int32 = 0
        unsafe gtk_widget_measure(cast(), GTK_ORIENTATION_VERTICAL, Int32(width), nil, &height, nil, nil)
        return Int(height)
    }

    /// The natural width in pixels (`gtk_widget_measure`).
    package var naturalWidth: Int {
        var width: Int32 = 0
        unsafe gtk_widget_measure(cast(), GTK_ORIENTATION_HORIZONTAL, -1, nil, &width, nil, nil)
        return Int(width)
    }
}

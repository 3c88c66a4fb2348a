// SPDX-License-Identifier: Apache-2.0

internal import PanelToolkit

/// A sheet of choices that slides up from the bottom and covers the rest of the window.
final class ActionSheet {
    private let place: Overlay
    private let content: Widget
    private let shade: Box
    private let revealer: Revealer
    private let onChosen: (SheetPlan.Role) -> Void
    private let cancelButton: Button?
    private var isOpen = true

    /// Slides the sheet in and disables the content below it.
    ///
    /// - Parameters:
    ///   - plan: The buttons of the sheet.
    ///   - place: The overlay that holds the sheet.
    ///   - content: The widget that the sheet covers and disables.
    ///   - onChosen: Called once, with the choice of the user.
    init(_ plan: SheetPlan, on place: Overlay, over content: Widget, onChosen: @escaping (SheetPlan.Role) -> Void) {
        self.place = place
        self.content = content
        self.onChosen = onChosen
        let column = Box.column(spacing: 8)
        shade = Box.column().styled("sheet-shade").expanding(across: true, down: true)
        revealer = Revealer(column.styled("sheet"), from: .below)
        revealer.aligned(down: .end)
        var buttons: [(Button, SheetPlan.Role)] = []
        for button in plan.buttons {
            let made = Button(button.title)
            // The label of a destructive button may take two lines, so that it is less often truncated.
            made.setTitle(button.title, .cut(lines: 2))
            made.setStyle(button.role == .destroy ? "destroys" : button.role == .cancel ? "cancels" : "chooses", true)
            column.append(made)
            buttons.append((made, button.role))
        }
        cancelButton = buttons.last?.0
        for (button, role) in buttons {
            button.onPressed { [weak self] in self?.choose(role) }
        }
        shade.onPress { [weak self] in self?.choose(.cancel) }
        revealer.onShortcut("Escape", isLocal: true) { [weak self] in
            self?.choose(.cancel)
            return true
        }
        open()
    }

    private func open() {
        content.setReachable(false)
        content.setRead(false)
        place.lay(over: shade)
        place.lay(over: revealer)
        revealer.named(tr("Choices"))
        MainLoop.whenIdle { [self] in
            revealer.isRevealed = true
            // Cancel gets the focus, so that Return destroys nothing.
            cancelButton?.focus()
        }
    }

    /// Makes a choice, as a click on its button does; the second press of a double click does nothing.
    func choose(_ role: SheetPlan.Role) {
        guard isOpen else { return }
        isOpen = false
        content.setReachable(true)
        content.setRead(true)
        revealer.isRevealed = false
        shade.isVisible = false
        onChosen(role)
        MainLoop.after(milliseconds: 350) { [place, shade, revealer] in
            place.takeOff(shade)
            place.takeOff(revealer)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PanelToolkit
internal import PushDBus

/// The form for pairing with a server; it is the panel's only form with Save and Cancel.
final class PairingWindow {
    /// The input of the user.
    struct Draft {
        var server = ""
        var code = ""
    }

    private let window: DialogWindow
    private unowned let owner: MainWindow
    private let onClosed: () -> Void
    private let server = TextEntry(placeholder: "https://push.example.org:2197")
    private let code = TextEntry(placeholder: tr("If the server requires one"))
    private let errorLabel = Label("").styled("error-text")
    private let spinner = Spinner()
    private let save = Button(tr("Save"))
    private let cancel = Button(tr("Cancel"))

    /// Opens above the main window; restores the input of an earlier form that was closed without Cancel.
    init(in owner: MainWindow, onClosed: @escaping () -> Void) {
        self.owner = owner
        self.onClosed = onClosed
        window = DialogWindow(of: owner.application, title: tr("Pair With a Server"), role: .dialog)
        window.setOwner(owner.window)
        window.setDefaultSize(width: 360, height: 330)
        server.text = owner.pairingDraft.server
        code.text = owner.pairingDraft.code
        build()
        listen()
        updateSaveButton()
        window.present()
        server.focus()
    }

    private func build() {
        let header = HeaderBar(tr("Pairing"))
        header.withoutWindowButtons()
        header.packStart(cancel.styled("touch", "text-button", "form-button"))
        header.packEnd(save.styled("touch", "text-button", "form-button", "suggested-action"))
        spinner.isVisible = false
        let form = Box.column(
            spacing: 6, Label(tr("Server")).styled("heading"), server.styled("touch"),
            Label(tr("Code")).styled("heading").padded(above: 6), code.styled("touch"), errorLabel, spinner,
            Label(tr("The administrator of the server provides both.")).styled("dim-label", "caption"))
        let scroller = Scroller(form.padded(across: 18, above: 12, below: 18))
        window.setContent(Box.column(header, scroller.expanding(across: true, down: true)))
        window.setDefault(save)
        server.named(tr("Server")).activatesDefault()
        code.named(tr("Code")).activatesDefault()
    }

    private func listen() {
        for entry in [server, code] {
            entry.onChanged { [weak self] in self?.updateSaveButton() }
        }
        save.onPressed { [weak self] in self?.pair() }
        cancel.onPressed { [weak self] in self?.abandon() }
        window.onShortcut("Escape") { [weak self] in
            self?.abandon()
            return true
        }
        window.onCloseRequest { [weak self] in
            self?.close()
            return true
        }
    }

    private func updateSaveButton() {
        owner.pairingDraft = Draft(server: server.text, code: code.text)
        save.isSensitive = !server.text.isEmpty
        errorLabel.isVisible = false
    }

    private func abandon() {
        owner.pairingDraft = Draft()
        close()
    }

    private func close() {
        let (window, onClosed) = (window, onClosed)
        // The window is destroyed later, because this code runs in one of its signals.
        MainLoop.whenIdle {
            window.destroy()
            onClosed()
        }
    }

    private func pair() {
        setBusy(true)
        let arguments: [BusValue] = [.text(server.text), .text(code.text), .string("")]
        owner.cache.agent?.call(.enrol, arguments, timeout: AgentProxy.serverCallTimeout) { [weak self] answer in
            guard let self else { return }
            setBusy(false)
            switch answer {
            case .success: abandon()
            case .failure(let error): fail(error)
            }
        }
    }

    private func setBusy(_ isBusy: Bool) {
        if isBusy { cancel.focus() }
        for widget in [server, code, save] { widget.isSensitive = !isBusy }
        errorLabel.isVisible = false
        spinner.isVisible = isBusy
    }

    private func fail(_ error: BusError) {
        errorLabel.setText(ProblemText.text(error))
        errorLabel.isVisible = true
        let isOfCode = [.badEnrolmentCode, .notTrusted].contains(error.agentCode)
        (isOfCode ? code : server).focus()
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PanelToolkit
internal import PushDBus

/// The form for pairing with a server, or for trusting the server again; it is the panel's only form with Cancel.
final class PairingWindow {
    /// The effect of the form.
    enum Purpose {
        case pairing
        /// Trusts a server of this address whose identity changed, and keeps the enrolment.
        case trusting(server: String)
    }

    /// The input of the user.
    struct Draft {
        var server = ""
        var code = ""
    }

    /// The length of a whole code, with its separators and some space.
    private static let codeCharacterCount = 46

    private let window: DialogWindow
    private unowned let owner: MainWindow
    private let purpose: Purpose
    private let onClosed: () -> Void
    private let server = TextEntry(placeholder: "https://push.example.org:2197")
    private let code: TextEntry
    private let problem = Label("").styled("error-text")
    /// The agent's text about the problem, for the administrator.
    private let details = Label("").styled("caption", "dim-label").selectable()
    private let problemBox: Box
    private let expander: Expander
    private let progress = Box.row(spacing: 8, Spinner(), Label(tr("Connecting to the server…")))
    private let confirm: Button
    private let headerTitle: String
    private let caption: String
    private let cancel = Button(tr("Cancel"))

    /// Opens above the main window; restores the input of an earlier form that was closed without Cancel.
    init(_ purpose: Purpose, in owner: MainWindow, onClosed: @escaping () -> Void) {
        self.owner = owner
        self.purpose = purpose
        self.onClosed = onClosed
        let title: String
        switch purpose {
        case .pairing:
            (title, headerTitle, confirm) = (tr("Pair With a Server"), tr("Pairing"), Button(tr("Pair")))
            code = TextEntry(placeholder: tr("If the server requires one"))
            caption = tr("The administrator of the server provides both.")
        case .trusting:
            title = tr("Trust This Server")
            (headerTitle, confirm) = (title, Button(tr("Trust")))
            code = TextEntry(placeholder: tr("Six groups of four characters"))
            caption = tr("Ask the administrator for this code. On the server, “posthorn authority list” prints it.")
        }
        window = DialogWindow(of: owner.application, title: title, role: .dialog)
        window.setOwner(owner.window)
        expander = Expander(tr("Details"), details)
        problemBox = Box.column(spacing: 6, problem, expander)
        fillIn()
        build()
        listen()
        updateButton()
        window.present()
        (server.isSensitive ? server : code).focus()
    }

    private func fillIn() {
        switch purpose {
        case .pairing: (server.text, code.text) = (owner.pairingDraft.server, owner.pairingDraft.code)
        case .trusting(let address):
            server.text = address
            server.isSensitive = false
        }
    }

    private func build() {
        let screen = Desktop.monitorSize ?? (1024, 768)
        // On a narrow screen, the buttons need the space of the title.
        let header = HeaderBar(headerTitle)
        if Double(screen.width) < 300 * Desktop.textScale { header.setTitle(Box.row()) }
        header.withoutWindowButtons()
        header.packStart(cancel.styled("touch", "text-button", "form-button"))
        header.packEnd(confirm.styled("touch", "text-button", "form-button", "suggested-action"))
        code.styled("monospace").fits(characterCount: Self.codeCharacterCount)
        problemBox.isVisible = false
        progress.isVisible = false
        let form = Box.column(
            spacing: 6, Label(tr("Server")).styled("heading"), server.styled("touch"),
            Label(tr("Code")).styled("heading").padded(above: 6), code.styled("touch"), problemBox, progress,
            Label(caption).styled("dim-label", "caption"))
        let scroller = Scroller(form.padded(across: 18, above: 12, below: 18))
        window.setContent(Box.column(header, scroller.expanding(across: true, down: true)))
        window.setDefault(confirm)
        // The scroller does not request the width of its content.
        window.setDefaultSize(
            width: min(code.naturalWidth + 2 * 18, screen.width),
            height: min(Int(360 * Desktop.textScale), screen.height))
        server.named(tr("Server")).activatesDefault()
        code.named(tr("Code")).activatesDefault()
    }

    private func listen() {
        for entry in [server, code] {
            entry.onChanged { [weak self] in self?.updateButton() }
        }
        confirm.onPressed { [weak self] in self?.pair() }
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

    private func updateButton() {
        switch purpose {
        case .pairing:
            owner.pairingDraft = Draft(server: server.text, code: code.text)
            confirm.isSensitive = !server.text.isEmpty
        case .trusting: confirm.isSensitive = !code.text.isEmpty
        }
        problemBox.isVisible = false
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
        let (method, arguments): (AgentMethod, [BusValue]) =
            switch purpose {
            case .pairing: (.enrol, [.text(server.text), .text(code.text), .string("")])
            case .trusting: (.trust, [.text(code.text), .string("")])
            }
        owner.cache.agent?.call(method, arguments, timeout: AgentProxy.serverCallTimeout) { [weak self] answer in
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
        for widget in [code, confirm] { widget.isSensitive = !isBusy }
        if case .pairing = purpose { server.isSensitive = !isBusy }
        problemBox.isVisible = false
        progress.isVisible = isBusy
    }

    private func fail(_ error: BusError) {
        let text: String
        let isOfCode: Bool
        switch purpose {
        case .pairing:
            text = ProblemText.pairing(error, hasCode: !code.text.isEmpty)
            isOfCode = [.badEnrolmentCode, .notTrusted].contains(error.agentCode)
        case .trusting: (text, isOfCode) = (ProblemText.trusting(error), true)
        }
        problem.setText(text)
        details.setText(error.message)
        expander.setOpen(false)
        expander.isVisible = !error.message.isEmpty
        problemBox.isVisible = true
        server.described(isOfCode ? "" : text)
        code.described(isOfCode ? text : "")
        (isOfCode ? code : server).focus()
    }
}

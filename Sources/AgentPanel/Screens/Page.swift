// SPDX-License-Identifier: Apache-2.0

/// One view of the main window: a header with its title, and what it is about.
class Page {
    let title: String
    let root: Widget
    let header = Widget.headerBar()
    let content: Widget
    unowned let window: MainWindow
    /// Where it stands; nil before that, and after it was left.
    weak var navigator: Navigator?
    private var backTitle: Widget?

    /// Makes a page.
    init(_ title: String, in window: MainWindow, _ content: Widget) {
        self.title = title
        self.window = window
        self.content = content
        header.setHeaderTitle(.windowTitle(title))
        root = .column(header, content.expanding(across: true, down: true))
        root.named(title)
    }

    var mirror: AgentMirror { window.mirror }

    /// Makes the best of the window's size.
    func fit(_ shape: MainWindow.Shape) {
        header.setWindowButtons(closeOnly: shape.isNarrow)
        // Beside the title there is no room for it that would not cut it.
        backTitle?.isVisible = !shape.isNarrow
    }

    /// A button to the page before, with its title where there is room.
    fileprivate func addBack(to previous: Page, _ pressed: @escaping () -> Void) {
        let title = Widget.label(previous.title, .cut(lines: 1)).styled("back-title")
        backTitle = title
        let button = Widget.button(
            around: .row(spacing: 4, .symbol("go-previous-symbolic"), title).placed(across: .center),
            named: previous.title, pressed)
        header.packStart(button.styled("touch", "flat", "back").hinted(tr("Back")).described(tr("Back")))
    }

    /// What gets the focus when it is opened.
    func focus() { content.focusFirst() }

    /// It is on the screen from now on.
    func appear() {}

    /// It is not on the screen any more.
    func disappear() {}

    /// Whether it deals with Escape itself.
    func escape() -> Bool { false }
}

/// The views of one tab, each of which leads to the next.
final class Navigator {
    let widget = Widget.stack(sliding: true)
    private var pages: [Page] = []
    /// What had the focus on each page that was left for a deeper one.
    private var focused: [Widget?] = []
    private unowned let window: MainWindow

    init(_ first: Page, in window: MainWindow) {
        self.window = window
        add(first)
    }

    /// The view on top.
    var top: Page { pages[pages.count - 1] }

    /// How deep it is.
    var depth: Int { pages.count }

    private func add(_ page: Page) {
        page.navigator = self
        pages.append(page)
        page.fit(window.shape)
        widget.addToStack(page.root)
        widget.show(page.root)
    }

    /// Makes the best of the window's size.
    func fit(_ shape: MainWindow.Shape) {
        for page in pages { page.fit(shape) }
    }

    /// Goes deeper.
    func push(_ page: Page) {
        focused.append(window.window.focusedWidget)
        let previous = top
        page.addBack(to: previous) { [weak self] in self?.pop() }
        previous.disappear()
        add(page)
        page.appear()
        page.focus()
    }

    /// Goes back, and says whether there was something to go back to.
    @discardableResult
    func pop() -> Bool {
        guard pages.count > 1 else { return false }
        let page = pages.removeLast()
        page.disappear()
        page.navigator = nil
        widget.show(top.root)
        top.appear()
        focused.removeLast()?.focus()
        // It slides away before it goes.
        MainLoop.after(milliseconds: 400) { [widget] in widget.removeFromStack(page.root) }
        return true
    }

    /// Goes back to the first view.
    func popAll() {
        while pop() {}
    }
}

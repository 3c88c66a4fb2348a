// SPDX-License-Identifier: Apache-2.0

internal import PanelToolkit

/// A page of the main window: a header with a title, and the content.
class Page {
    let title: String
    let root: Box
    let header: HeaderBar
    let content: Widget
    unowned let window: MainWindow
    /// The navigator that shows the page; nil before it is pushed and after it is popped.
    weak var navigator: Navigator?
    private var backTitle: Label?
    /// The tabs for the header of a wide window; nil for a page that is not the first of its tab.
    var tabs: TabBar?

    /// Creates a page.
    init(_ title: String, in window: MainWindow, _ content: Widget) {
        self.title = title
        self.window = window
        self.content = content
        header = HeaderBar(title)
        root = Box.column(header, content.expanding(across: true, down: true))
        root.named(title)
    }

    var cache: AgentStateCache { window.cache }

    /// Adapts the page to the window's size.
    func fit(_ shape: MainWindow.Shape) {
        header.setWindowButtons(closeOnly: shape.isTight)
        // A narrow header has no space for the back button's title.
        backTitle?.isVisible = !shape.isNarrow
        if let tabs { header.setTitle(shape.isWide ? tabs.widget : header.titleText) }
    }

    /// Adds a button that returns to the previous page; it has that page's title if there is space.
    fileprivate func addBack(to previous: Page, _ pressed: @escaping () -> Void) {
        let title = Label(previous.title, .cut(lines: 1)).styled("back-title")
        backTitle = title
        let button = Button(
            around: Box.row(spacing: 4, Symbol("go-previous-symbolic"), title).aligned(across: .center),
            named: previous.title, pressed)
        header.packStart(button.styled("touch", "flat", "back").hinted(tr("Back")).described(tr("Back")))
    }

    /// Moves the focus to the page's initial widget, unless the content has the focus.
    func focus() {
        if let focused = window.window.focusedWidget, content.contains(focused) { return }
        content.focusFirst()
    }

    /// Called when the page becomes visible.
    func appear() {}

    /// Called when the page is no longer visible.
    func disappear() {}

    /// Handles Escape; returns false to let the window handle it.
    func escape() -> Bool { false }
}

/// The stack of pages of one tab.
final class Navigator {
    let widget = Stack(isSliding: true)
    private var pages: [Page] = []
    /// The focused widget of each page below the top one.
    private var focused: [Widget?] = []
    private unowned let window: MainWindow

    init(_ first: Page, in window: MainWindow) {
        self.window = window
        add(first)
    }

    /// The visible page.
    var top: Page { pages[pages.count - 1] }

    /// The number of pages on the stack.
    var depth: Int { pages.count }

    private func add(_ page: Page) {
        page.navigator = self
        pages.append(page)
        page.fit(window.shape)
        widget.add(page.root)
        widget.show(page.root)
    }

    /// Adapts all pages to the window's size.
    func fit(_ shape: MainWindow.Shape) {
        for page in pages { page.fit(shape) }
    }

    /// Shows a new page on top.
    func push(_ page: Page) {
        focused.append(window.window.focusedWidget)
        let previous = top
        page.addBack(to: previous) { [weak self] in self?.pop() }
        previous.disappear()
        add(page)
        page.appear()
        page.focus()
    }

    /// Returns to the previous page; returns false on the first page.
    @discardableResult
    func pop() -> Bool {
        guard pages.count > 1 else { return false }
        let page = pages.removeLast()
        page.disappear()
        page.navigator = nil
        widget.show(top.root)
        top.appear()
        focused.removeLast()?.focus()
        // The page is removed after the slide animation has ended.
        MainLoop.after(milliseconds: 400) { [widget] in widget.remove(page.root) }
        return true
    }

    /// Returns to the first page.
    func popAll() {
        while pop() {}
    }
}

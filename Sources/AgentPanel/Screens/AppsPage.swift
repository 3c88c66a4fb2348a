// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PanelToolkit
internal import PushDBus

/// The apps as icons with badges, on pages with dots, or on one long page if there would be too many pages.
final class AppsPage: Page {
    private let stack = Stack()
    private let carousel = Carousel()
    private let dots: CarouselDots
    private let pages: Box
    private let long = Bin()
    private lazy var longPage = Scroller(long)
    private let empty: StatusPage
    private var grids: [Grid] = []
    private var tiles: [String: AppTile] = [:]
    private var shown: [AppRecord] = []
    private var plan: GridPlan?
    private var space = (width: 0, height: 0)
    private var isShown = false

    init(in window: MainWindow) {
        dots = CarouselDots(of: carousel)
        pages = Box.column(carousel.expanding(across: true, down: true), dots.padded(below: 6))
        empty = AbsenceText.page()
        let overlay = Overlay(Box.column())
        let width = Int(Double(GridPlan.widthMax) * Desktop.textScale)
        super.init(tr("Apps"), in: window, Clamp(overlay, widthMax: width))
        let probe = SizeProbe { [weak self] width, height in self?.fit(width, height) }
        overlay.lay(over: probe)
        overlay.lay(over: stack)
        for child in [pages, longPage, empty] { stack.add(child) }
        cache.watch(self) { page, topic in
            if topic == .apps || topic == .presence { page.refresh() }
        }
        refresh()
    }

    private func fit(_ width: Int, _ height: Int) {
        guard (width, height) != space else { return }
        space = (width, height)
        // The refresh must not run during GTK's layout phase.
        MainLoop.whenIdle { [weak self] in self?.refresh() }
    }

    /// Sorts the apps by name; after that, the order stays until the page is left.
    override func appear() {
        refresh()
        isShown = true
    }

    override func disappear() { isShown = false }

    /// Updates the grid; an icon at the right place is not touched, so that none moves under the pointer.
    private func refresh() {
        let apps = isShown ? AppOrder.keeping(cache.apps, asShown: shown.map(\.appID)) : cache.apps
        guard !apps.isEmpty else { return showEmptiness() }
        guard space.width > 0 else { return }
        let plan = GridPlan(
            count: apps.count, width: space.width - 16, height: space.height - 36, textScale: Desktop.textScale)
        if plan != self.plan || apps.map(\.appID) != shown.map(\.appID) { lay(out: apps, plan) }
        for app in apps { tiles[app.appID]?.show(app) }
        shown = apps
    }

    private func showEmptiness() {
        stack.show(empty)
        guard cache.presence == .present else { return AbsenceText.show(on: empty, cache.presence) }
        empty.show(
            icon: "view-app-grid-symbolic", title: tr("No Apps"),
            description: tr("An app appears here when it registers for notifications."))
    }

    /// Appends new icons if the others keep their places, else rebuilds the grid; the focus stays on its app.
    private func lay(out apps: [AppRecord], _ plan: GridPlan) {
        let isLonger = plan.keepsPlaces(of: self.plan) && apps.map(\.appID).starts(with: shown.map(\.appID))
        let focused = tiles.first { $0.value.widget.containsFocus }?.key
        if !isLonger { clear() }
        self.plan = plan
        for (index, app) in apps.enumerated().dropFirst(isLonger ? shown.count : 0) {
            let tile = AppTile(app) { [weak self] in self?.open(app.appID) }
            tiles[app.appID] = tile
            tile.widget.sized(width: (space.width - 16) / plan.columns)
            let place = plan.place(index)
            if place.page == grids.count { addGrid(plan) }
            grids[place.page].attach(tile.widget, column: place.column, row: place.row)
        }
        dots.isVisible = grids.count > 1
        stack.show(plan.scrolls ? longPage : pages)
        if !isLonger, let focused { tiles[focused]?.widget.focus() }
    }

    private func clear() {
        if plan?.scrolls == false { for grid in grids { carousel.remove(grid) } }
        long.setContent(nil)
        (grids, tiles) = ([], [:])
    }

    private func addGrid(_ plan: GridPlan) {
        let (index, grid) = (grids.count, Grid(rowSpacing: 8, columnSpacing: 0))
        grids.append(grid.padded(across: 8, above: 12, below: 8).aligned(across: .start))
        guard !plan.scrolls else { return long.setContent(grid) }
        carousel.append(grid.expanding(across: true))
        // The carousel turns to the page that gets the keyboard focus.
        grid.onFocusEntering { [weak self] in
            guard let self, grids.indices.contains(index), carousel.page != index else { return }
            carousel.turn(to: grids[index], isMoving: Desktop.allowsMotion)
        }
    }

    private func open(_ appID: String) {
        window.call(.openApp, [.text(appID), .text(Desktop.activationToken(shownAs: MainWindow.title))])
    }
}

/// An app's icon with the name below and the badge at the upper right.
final class AppTile {
    let widget: Button
    /// The badge, which is at the right in every language.
    private let badge = Label("", .cut(lines: 1)).centered().styled("badge")
        .aligned(across: .end, down: .start).leftToRight()

    init(_ app: AppRecord, pressed: @escaping () -> Void) {
        let icon = Overlay(
            AppIcon.make(app.icon, of: app.appTitle, pixels: 64).padded(across: 12, above: 8))
        icon.lay(over: badge)
        let face = Box.column(
            spacing: 6, icon.aligned(across: .center), Label(app.appTitle, .cut(lines: 1)).centered().styled("name"))
        widget = Button(around: face, named: app.appTitle, pressed).styled("flat", "tile").aligned(down: .start)
        show(app)
    }

    /// Updates the badge.
    func show(_ app: AppRecord) {
        let text = BadgeText.icon(app.badge)
        badge.setText(text ?? "")
        badge.isVisible = text != nil
        badge.setStyle("long-badge", text.map { BadgeText.isLong($0, textScale: Desktop.textScale) } ?? false)
        widget.named(AppText.iconName(app))
    }
}

// SPDX-License-Identifier: Apache-2.0

/// A list of any length that only creates widgets for the visible rows (`GtkListView`).
///
/// The model is a list of keys. `make` creates a row once, and `bind` lets it show one key after another. The keyboard
/// focus is on a row. Tab moves to the buttons in the row, and then out of the list, however long the list is.
package final class RecycledList<Row: AnyObject> {
    package let widget = ListView()
    private let making: Making
    /// The existing rows, by the number of their item.
    private var rows: [UInt: (item: ListItem, row: Row)] = [:]
    private(set) var keys: [String] = []
    /// Whether the model is changing; its positions do not match `keys` during that time.
    private var isChanging = false

    /// The functions that create and describe rows.
    package struct Making {
        /// Creates an empty row.
        package var make: () -> Row
        /// Returns the row's root widget.
        package var root: (Row) -> Widget
        /// Shows the key at an index in the row.
        package var bind: (Row, Int) -> Void
        /// Returns whether the row at an index reacts to a click.
        package var isActivatable: (Int) -> Bool
        /// Returns the accessible name of the row at an index.
        package var name: (Int) -> String
        /// Returns whether the row at an index shows its collapsible content; nil for a row without such content.
        package var isExpanded: (Int) -> Bool?
        /// Returns the buttons in the row, in Tab order.
        package var controls: (Row) -> [Widget]

        package init(
            make: @escaping () -> Row, root: @escaping (Row) -> Widget, bind: @escaping (Row, Int) -> Void,
            isActivatable: @escaping (Int) -> Bool, name: @escaping (Int) -> String,
            isExpanded: @escaping (Int) -> Bool?, controls: @escaping (Row) -> [Widget]
        ) {
            self.make = make
            self.root = root
            self.bind = bind
            self.isActivatable = isActivatable
            self.name = name
            self.isExpanded = isExpanded
            self.controls = controls
        }
    }

    /// Creates an empty list.
    package init(_ making: Making) {
        self.making = making
        listen()
        widget.onTabFirst { [weak self] in self?.moveFocus(isBack: $0) ?? false }
    }

    private func listen() {
        widget.onSetup { [weak self] item in
            guard let self else { return }
            let row = making.make()
            rows[item.id] = (item, row)
            item.setChild(making.root(row))
            for control in making.controls(row) {
                // GTK only focuses a row if no widget in it can get the focus.
                control.setFocusable(false)
                control.onFocusLeaving { [weak control] in control?.setFocusable(false) }
            }
        }
        widget.onBind { [weak self] item in
            guard let self, !isChanging, let row = rows[item.id]?.row else { return }
            bind(item, row)
        }
        widget.onTeardown { [weak self] item in self?.rows[item.id] = nil }
    }

    /// Updates the row of one key, which may have become higher or lower.
    package func refresh(_ index: Int) {
        for (item, row) in rows.values where self.index(of: item) == index { bind(item, row) }
    }

    private func bind(_ item: ListItem, _ row: Row) {
        guard let index = index(of: item) else { return }
        making.bind(row, index)
        item.setActivatable(making.isActivatable(index))
        // GTK 4.8 cannot set the accessible name of a list item, so its row widget is named directly.
        let place = making.root(row).parent
        place?.named(making.name(index))
        place?.setExpanded(making.isExpanded(index))
    }

    /// Returns the index of an item; nil while it shows no key.
    private func index(of item: ListItem) -> Int? {
        let index = item.position
        return keys.indices.contains(index) ? index : nil
    }

    /// Calls the body with the index of a row that was clicked or activated with Return.
    package func onActivated(_ body: @escaping (Int) -> Void) { widget.onActivated(body) }

    /// The existing rows.
    package var shownRows: [Row] { rows.values.map(\.row) }

    /// Calls the body when the user scrolls or the list's length changes, with the list inside a scrolling container.
    package func onViewportChanged(_ body: @escaping () -> Void) { widget.onViewportChanged(body) }

    /// The indices of the rows whose middle is on the screen, in no particular order.
    package var visibleIndices: [Int] {
        rows.values.compactMap { item, row in
            guard let place = making.root(row).parent, widget.isInViewport(place) else { return nil }
            return index(of: item)
        }
    }

    // MARK: Display

    /// Replaces the keys and updates the rows of keys that stay.
    ///
    /// Rows of keys that stay keep their widgets, and so the focus and the scroll position. At the top, new rows stay
    /// visible.
    package func show(_ newKeys: [String]) {
        let change = ListChange(from: keys, to: newKeys)
        let (focused, isAtTop) = (focusedIndex, widget.isAtTop)
        let oldKeys = keys
        isChanging = true
        for splice in change.splices { widget.apply(splice) }
        isChanging = false
        keys = newKeys
        for (item, row) in rows.values { bind(item, row) }
        guard !change.splices.isEmpty, !keys.isEmpty else { return }
        if isAtTop { widget.scroll(to: 0) }
        if let focused { keepFocus(near: focused, oldKeys) }
    }

    /// Keeps the focus on its key; if the key is gone, moves it to the next activatable row, else to a previous one.
    private func keepFocus(near index: Int, _ oldKeys: [String]) {
        let places = Dictionary(zip(keys, keys.indices), uniquingKeysWith: { first, _ in first })
        if let place = places[oldKeys[index]] {
            if place != focusedIndex { focus(at: place) }
            return
        }
        let near = (oldKeys[index...] + oldKeys[..<index].reversed()).lazy.compactMap { places[$0] }
        focus(at: near.first(where: making.isActivatable) ?? 0)
    }

    // MARK: Keyboard

    /// The row with the keyboard focus.
    package var focused: Row? { rows.values.first { making.root($0.row).parent?.containsFocus ?? false }?.row }

    /// The index of the row with the keyboard focus.
    package var focusedIndex: Int? {
        rows.values.first { making.root($0.row).parent?.containsFocus ?? false }.flatMap { index(of: $0.item) }
    }

    /// Scrolls to a row and moves the focus to it.
    package func focus(at index: Int) {
        widget.scroll(to: index)
        guard !focusExisting(index) else { return }
        MainLoop.whenIdle { [weak self] in _ = self?.focusExisting(index) }
    }

    private func focusExisting(_ index: Int) -> Bool {
        let row = rows.values.first { self.index(of: $0.item) == index }?.row
        return row.flatMap { making.root($0).parent }?.focus() ?? false
    }

    /// Moves the focus with Tab and Shift+Tab to the buttons in the row, and then out of the list.
    private func moveFocus(isBack: Bool) -> Bool {
        guard let row = focused else { return false }
        // `nil` stands for the row itself, which precedes its buttons.
        let stops = [nil] + making.controls(row).filter(\.isMapped)
        let place = stops.firstIndex { $0?.containsFocus ?? false } ?? 0
        let next = place + (isBack ? -1 : 1)
        guard stops.indices.contains(next) else {
            widget.moveFocusOut(isBack: isBack)
            return true
        }
        if let control = stops[next] {
            control.setFocusable(true)
            control.focus()
        } else {
            making.root(row).parent?.focus()
        }
        return true
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A list of any length that only creates widgets for the visible rows (`GtkListView`).
///
/// The model is a list of keys. `make` creates a row once, and `bind` lets it show one key after another. The keyboard
/// focus is on a row. Tab moves to the buttons in the row, and then out of the list, however long the list is.
package final class RecycledList<Row: AnyObject> {
    package let widget: Widget
    private let model: Widget
    private let making: Making
    /// The existing rows, by the address of their `GtkListItem`.
    private var rows: [UInt: (item: Widget, row: Row)] = [:]
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
        /// Reports whether the row at an index reacts to a click.
        package var isActivatable: (Int) -> Bool
        /// Returns the accessible name of the row at an index.
        package var name: (Int) -> String
        /// Returns the buttons in the row, in Tab order.
        package var controls: (Row) -> [Widget]

        package init(
            make: @escaping () -> Row, root: @escaping (Row) -> Widget, bind: @escaping (Row, Int) -> Void,
            isActivatable: @escaping (Int) -> Bool, name: @escaping (Int) -> String,
            controls: @escaping (Row) -> [Widget]
        ) {
            self.make = make
            self.root = root
            self.bind = bind
            self.isActivatable = isActivatable
            self.name = name
            self.controls = controls
        }
    }

    /// Creates an empty list.
    package init(_ making: Making) {
        self.making = making
        let names: OpaquePointer? = unsafe gtk_string_list_new(nil)
        model = unsafe Widget.adopting(names)
        let factory = unsafe Widget.adopting(gtk_signal_list_item_factory_new())
        // The view takes ownership of one reference to the model and one to the factory.
        unsafe g_object_ref(UnsafeMutableRawPointer(model.address))
        unsafe g_object_ref(UnsafeMutableRawPointer(factory.address))
        let selection = unsafe gtk_no_selection_new(model.address)
        widget = unsafe Widget(gtk_list_view_new(selection, factory.address))
        unsafe gtk_list_view_set_single_click_activate(widget.address, 1)
        listen(to: factory)
        widget.onKeyFirst { [weak self] key, _ in self?.moveFocus(key) ?? false }
    }

    private func listen(to factory: Widget) {
        Signals.connectObject(factory, "setup") { [weak self] item in
            guard let self, let item else { return }
            let row = making.make()
            unsafe rows[UInt(bitPattern: item.address)] = (item, row)
            unsafe gtk_list_item_set_child(item.address, making.root(row).cast())
            for control in making.controls(row) {
                // GTK only focuses a row if no widget in it can get the focus.
                control.setFocusable(false)
                control.onFocusLeaving { [weak control] in control?.setFocusable(false) }
            }
        }
        Signals.connectObject(factory, "bind") { [weak self] item in
            guard let self, !isChanging, let item, let row = unsafe rows[UInt(bitPattern: item.address)]?.row else {
                return
            }
            bind(item, row)
        }
        Signals.connectObject(factory, "teardown") { [weak self] item in
            guard let self, let item else { return }
            unsafe rows[UInt(bitPattern: item.address)] = nil
        }
    }

    private func bind(_ item: Widget, _ row: Row) {
        guard let index = index(of: item) else { return }
        making.bind(row, index)
        unsafe gtk_list_item_set_activatable(item.address, making.isActivatable(index) ? 1 : 0)
        // GTK 4.8 cannot set the accessible name of a list item, so its row widget is named directly.
        making.root(row).parent?.named(making.name(index))
    }

    /// Returns the index of an item (`gtk_list_item_get_position`); nil while it shows no key.
    private func index(of item: Widget) -> Int? {
        let index = unsafe Int(gtk_list_item_get_position(item.address))
        return keys.indices.contains(index) ? index : nil
    }

    /// Calls the body with the index of a row that was clicked or activated with Return.
    package func onActivated(_ body: @escaping (Int) -> Void) { Signals.connectIndex(widget, "activate", body) }

    /// The existing rows.
    package var shownRows: [Row] { rows.values.map(\.row) }

    // MARK: Display

    /// Replaces the keys and updates the rows of keys that stay.
    ///
    /// Rows of keys that stay keep their widgets, and so the focus and the scroll position. At the top, new rows stay
    /// visible.
    package func show(_ newKeys: [String]) {
        let change = ListChange(from: keys, to: newKeys)
        let (focused, isAtTop) = (focusedIndex, isAtTop)
        let oldKeys = keys
        isChanging = true
        for splice in change.splices { self.splice(splice) }
        isChanging = false
        keys = newKeys
        for (item, row) in rows.values { bind(item, row) }
        guard !change.splices.isEmpty, !keys.isEmpty else { return }
        if isAtTop { scroll(to: 0) }
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

    /// Replaces keys in the model with `gtk_string_list_splice`.
    private func splice(_ splice: ListChange.Splice) {
        var copies = unsafe splice.added.map { unsafe UnsafePointer<CChar>(g_strdup($0)) }
        unsafe copies.append(nil)
        unsafe copies.withUnsafeBufferPointer { texts in
            unsafe gtk_string_list_splice(
                model.address, UInt32(splice.position), UInt32(splice.removedCount), texts.baseAddress)
        }
        unsafe copies.forEach { unsafe g_free(UnsafeMutableRawPointer(mutating: $0)) }
    }

    private var isAtTop: Bool {
        guard let place = unsafe gtk_scrollable_get_vadjustment(widget.address) else { return true }
        return unsafe gtk_adjustment_get_value(place) < 1
    }

    /// Activates the list's action `list.scroll-to-item`.
    private func scroll(to index: Int) {
        unsafe _ = gtk_widget_activate_action_variant(
            widget.cast(), "list.scroll-to-item", g_variant_new_uint32(UInt32(index)))
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
        scroll(to: index)
        guard !focusExisting(index) else { return }
        MainLoop.whenIdle { [weak self] in _ = self?.focusExisting(index) }
    }

    private func focusExisting(_ index: Int) -> Bool {
        let row = rows.values.first { self.index(of: $0.item) == index }?.row
        return row.flatMap { making.root($0).parent }?.focus() ?? false
    }

    /// Moves the focus with Tab and Shift+Tab to the buttons in the row, and then out of the list.
    private func moveFocus(_ key: UInt32) -> Bool {
        let isBack = key == UInt32(GDK_KEY_ISO_Left_Tab)
        guard isBack || key == UInt32(GDK_KEY_Tab) || key == UInt32(GDK_KEY_KP_Tab), let row = focused else {
            return false
        }
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

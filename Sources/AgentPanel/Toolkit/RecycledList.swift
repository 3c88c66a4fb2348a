// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A list of any length, of which only the rows on the screen exist (`GtkListView`).
///
/// The model is a list of keys. A row is made once (`make`), and shows one key after the other (`bind`). The keyboard's
/// focus is at a row; Tab goes on to what can be pressed in it, and then out of the list, however long that is.
final class RecycledList<Row: AnyObject> {
    /// The list itself.
    let widget: Widget
    private let model: Widget
    private let making: Making
    /// The rows that exist, by the address of their `GtkListItem`.
    private var rows: [UInt: (item: Widget, row: Row)] = [:]
    private(set) var keys: [String] = []
    /// While the model changes, places are not yet those of the keys.
    private var isChanging = false

    /// How rows come to be.
    struct Making {
        /// Makes an empty row.
        var make: () -> Row
        /// What of it is put into the list.
        var root: (Row) -> Widget
        /// Shows the key at this place.
        var bind: (Row, Int) -> Void
        /// Whether pressing the row at this place does something.
        var isActivatable: (Int) -> Bool
        /// What a screen reader calls it.
        var name: (Int) -> String
        /// What can be pressed in it, in the order of Tab.
        var controls: (Row) -> [Widget]
    }

    /// Makes an empty list.
    init(_ making: Making) {
        self.making = making
        let names: OpaquePointer? = unsafe gtk_string_list_new(nil)
        model = unsafe Widget.adopting(names)
        let factory = unsafe Widget.adopting(gtk_signal_list_item_factory_new())
        // Both go over to the view, which drops one reference of each.
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
                // GTK gives the focus to a row only if nothing in it takes it.
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
        // In GTK 4.8 a list's rows have no name of their own.
        making.root(row).parent?.named(making.name(index))
    }

    /// `gtk_list_item_get_position`; nil while it shows nothing.
    private func index(of item: Widget) -> Int? {
        let index = unsafe Int(gtk_list_item_get_position(item.address))
        return keys.indices.contains(index) ? index : nil
    }

    /// Pressing a row, or Return on it.
    func onActivated(_ body: @escaping (Int) -> Void) { Signals.connectIndex(widget, "activate", body) }

    /// The rows that exist.
    var shownRows: [Row] { rows.values.map(\.row) }

    // MARK: What is shown

    /// Shows other keys, and what those that stay say now.
    ///
    /// What stays is not touched, so that focus and place stay, too; at the top one sees what comes in there.
    func show(_ newKeys: [String]) {
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

    /// The row that had the focus has it still; where it is gone, what came next and can be pressed, else what was before.
    private func keepFocus(near index: Int, _ oldKeys: [String]) {
        let places = Dictionary(zip(keys, keys.indices), uniquingKeysWith: { first, _ in first })
        if let place = places[oldKeys[index]] {
            if place != focusedIndex { focus(at: place) }
            return
        }
        let near = (oldKeys[index...] + oldKeys[..<index].reversed()).lazy.compactMap { places[$0] }
        focus(at: near.first(where: making.isActivatable) ?? 0)
    }

    /// `gtk_string_list_splice`.
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

    /// The list's action `list.scroll-to-item`.
    private func scroll(to index: Int) {
        unsafe _ = gtk_widget_activate_action_variant(
            widget.cast(), "list.scroll-to-item", g_variant_new_uint32(UInt32(index)))
    }

    // MARK: The keyboard

    /// The row in which the keyboard's focus is.
    var focused: Row? { rows.values.first { making.root($0.row).parent?.containsFocus ?? false }?.row }

    /// Its place.
    var focusedIndex: Int? {
        rows.values.first { making.root($0.row).parent?.containsFocus ?? false }.flatMap { index(of: $0.item) }
    }

    /// Gives the focus to a row, which comes into sight.
    func focus(at index: Int) {
        scroll(to: index)
        guard !focusExisting(index) else { return }
        MainLoop.whenIdle { [weak self] in _ = self?.focusExisting(index) }
    }

    private func focusExisting(_ index: Int) -> Bool {
        let row = rows.values.first { self.index(of: $0.item) == index }?.row
        return row.flatMap { making.root($0).parent }?.focus() ?? false
    }

    /// Tab and Shift+Tab go to what is in the row, and then out of the list.
    private func moveFocus(_ key: UInt32) -> Bool {
        let isBack = key == UInt32(GDK_KEY_ISO_Left_Tab)
        guard isBack || key == UInt32(GDK_KEY_Tab) || key == UInt32(GDK_KEY_KP_Tab), let row = focused else {
            return false
        }
        // `nil` is the row itself, which comes before what is in it.
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

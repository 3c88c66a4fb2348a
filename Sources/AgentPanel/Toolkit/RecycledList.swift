// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A list of any length, of which only the rows on the screen exist (`GtkListView`).
///
/// The model is a list of keys. A row is made once (`make`), and shows one key after the other (`bind`).
final class RecycledList<Row: AnyObject> {
    /// The list itself.
    let widget: Widget
    private let model: Widget
    /// The rows that exist, by the address of their `GtkListItem`.
    private var rows: [UInt: Row] = [:]
    private(set) var keys: [String] = []

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
    }

    /// Makes an empty list.
    init(_ making: Making) {
        let names: OpaquePointer? = unsafe gtk_string_list_new(nil)
        model = unsafe Widget.adopting(names)
        let factory = unsafe Widget.adopting(gtk_signal_list_item_factory_new())
        // Both go over to the view, which drops one reference of each.
        unsafe g_object_ref(UnsafeMutableRawPointer(model.address))
        unsafe g_object_ref(UnsafeMutableRawPointer(factory.address))
        let selection = unsafe gtk_no_selection_new(model.address)
        widget = unsafe Widget(gtk_list_view_new(selection, factory.address))
        unsafe gtk_list_view_set_single_click_activate(widget.address, 1)
        listen(to: factory, making)
    }

    private func listen(to factory: Widget, _ making: Making) {
        Signals.connectObject(factory, "setup") { [weak self] item in
            guard let self, let item else { return }
            let row = making.make()
            unsafe rows[UInt(bitPattern: item.address)] = row
            unsafe gtk_list_item_set_child(item.address, making.root(row).cast())
        }
        Signals.connectObject(factory, "bind") { [weak self] item in
            guard let self, let item, let row = unsafe rows[UInt(bitPattern: item.address)] else { return }
            let index = unsafe Int(gtk_list_item_get_position(item.address))
            guard keys.indices.contains(index) else { return }
            making.bind(row, index)
            unsafe gtk_list_item_set_activatable(item.address, making.isActivatable(index) ? 1 : 0)
            // In GTK 4.8 a list's rows have no name of their own.
            _ = making.root(row).parent?.named(making.name(index))
        }
        Signals.connectObject(factory, "teardown") { [weak self] item in
            guard let self, let item else { return }
            unsafe rows[UInt(bitPattern: item.address)] = nil
        }
    }

    /// Pressing a row, or Return on it.
    func onActivated(_ body: @escaping (Int) -> Void) { Signals.connectIndex(widget, "activate", body) }

    /// The rows that exist.
    var shownRows: [Row] { Array(rows.values) }

    /// Shows other keys; only what differs is touched, so that focus and place stay.
    func show(_ newKeys: [String]) {
        let shared = min(keys.count, newKeys.count)
        let head = (0..<shared).first { keys[$0] != newKeys[$0] } ?? shared
        let tail = (0..<(shared - head)).first { keys[keys.count - 1 - $0] != newKeys[newKeys.count - 1 - $0] }
        let tailCount = tail ?? shared - head
        let added = newKeys[head..<(newKeys.count - tailCount)]
        let removedCount = keys.count - tailCount - head
        keys = newKeys
        guard removedCount > 0 || !added.isEmpty else { return }
        splice(at: head, removing: removedCount, adding: Array(added))
    }

    /// `gtk_string_list_splice`.
    private func splice(at position: Int, removing count: Int, adding texts: [String]) {
        var copies = unsafe texts.map { unsafe UnsafePointer<CChar>(g_strdup($0)) }
        unsafe copies.append(nil)
        unsafe copies.withUnsafeBufferPointer { texts in
            unsafe gtk_string_list_splice(model.address, UInt32(position), UInt32(count), texts.baseAddress)
        }
        unsafe copies.forEach { unsafe g_free(UnsafeMutableRawPointer(mutating: $0)) }
    }
}

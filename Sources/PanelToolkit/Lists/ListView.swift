// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A list of keys that only creates widgets for the visible rows (`GtkListView`).
package final class ListView: Widget {
    /// The keys of the rows (`GtkStringList`).
    private let model: NativeObject
    private let factory: NativeObject

    /// Creates an empty list, in which one click activates a row.
    init() {
        let names: OpaquePointer? = unsafe gtk_string_list_new(nil)
        model = unsafe NativeObject(adopting: names)
        factory = unsafe NativeObject(adopting: gtk_signal_list_item_factory_new())
        // The view takes ownership of one reference to the model and one to the factory.
        unsafe g_object_ref(UnsafeMutableRawPointer(model.address))
        unsafe g_object_ref(UnsafeMutableRawPointer(factory.address))
        let selection = unsafe gtk_no_selection_new(model.address)
        unsafe super.init(gtk_list_view_new(selection, factory.address))
        unsafe gtk_list_view_set_single_click_activate(address, 1)
    }

    // MARK: Events

    /// Calls the body with each new item, which needs a child.
    func onSetup(_ body: @escaping (ListItem) -> Void) { connect("setup", body) }

    /// Calls the body with an item whenever it gets a position.
    func onBind(_ body: @escaping (ListItem) -> Void) { connect("bind", body) }

    /// Calls the body with each item that the view no longer needs.
    func onTeardown(_ body: @escaping (ListItem) -> Void) { connect("teardown", body) }

    private func connect(_ signal: String, _ body: @escaping (ListItem) -> Void) {
        unsafe Signals.connectObject(factory, signal) { item in
            guard let item = unsafe item else { return }
            body(unsafe ListItem(item))
        }
    }

    /// Calls the body with the index of a row that was clicked or activated with Return.
    func onActivated(_ body: @escaping (Int) -> Void) { Signals.connectIndex(self, "activate", body) }

    // MARK: Content

    /// Replaces keys in the model with `gtk_string_list_splice`.
    func apply(_ splice: ListChange.Splice) {
        var copies = unsafe splice.added.map { unsafe UnsafePointer<CChar>(g_strdup($0)) }
        unsafe copies.append(nil)
        unsafe copies.withUnsafeBufferPointer { texts in
            unsafe gtk_string_list_splice(
                model.address, UInt32(splice.position), UInt32(splice.removedCount), texts.baseAddress)
        }
        unsafe copies.forEach { unsafe g_free(UnsafeMutableRawPointer(mutating: $0)) }
    }

    /// Whether the list is scrolled to its beginning.
    var isAtTop: Bool {
        guard let place = unsafe gtk_scrollable_get_vadjustment(address) else { return true }
        return unsafe gtk_adjustment_get_value(place) < 1
    }

    /// Returns whether the middle of a row's widget is in the visible part of the list (`gtk_widget_compute_bounds`).
    ///
    /// A row without a place yet has no height.
    func isInViewport(_ row: Widget) -> Bool {
        var bounds = graphene_rect_t()
        guard row.isMapped, unsafe gtk_widget_compute_bounds(row.cast(), cast(), &bounds) != 0 else { return false }
        guard bounds.size.height > 0 else { return false }
        let middle = bounds.origin.y + bounds.size.height / 2
        return middle >= 0 && middle <= Float(unsafe gtk_widget_get_height(cast()))
    }

    /// Calls the body when the list is scrolled or its length changes, with the list inside a scrolling container.
    func onViewportChanged(_ body: @escaping () -> Void) {
        guard let adjustment = unsafe gtk_scrollable_get_vadjustment(address) else { return }
        let place = unsafe NativeObject(adjustment)
        for signal in ["value-changed", "changed"] { Signals.connect(place, signal, body) }
    }

    /// Activates the list's action `list.scroll-to-item`.
    func scroll(to index: Int) {
        unsafe _ = gtk_widget_activate_action_variant(
            cast(), "list.scroll-to-item", g_variant_new_uint32(UInt32(index)))
    }
}

/// A place of a list view that shows one key after another (`GtkListItem`).
final class ListItem: NativeObject {
    /// A number that identifies the item while it exists.
    var id: UInt { unsafe UInt(bitPattern: address) }

    /// The position in the list (`gtk_list_item_get_position`); larger than any index while it shows no key.
    var position: Int { Int(unsafe gtk_list_item_get_position(address)) }

    /// Sets the row's widget with `gtk_list_item_set_child`.
    func setChild(_ child: Widget) { unsafe gtk_list_item_set_child(address, child.cast()) }

    /// Sets whether the row reacts to a click (`gtk_list_item_set_activatable`).
    func setActivatable(_ isActivatable: Bool) {
        unsafe gtk_list_item_set_activatable(address, isActivatable ? 1 : 0)
    }
}
